import Canvas
import Testing

/// Web Animations with fill `none`; Chromium computes the same in Tests/Client/test_browser.py.
@Suite struct KeyframeTests {
    private typealias Keyframe = KeyframeAnimation.Keyframe

    private static func animation(
        _ keyframes: [Keyframe], _ change: (inout KeyframeAnimation) -> Void = { _ in }
    ) -> KeyframeAnimation {
        var animation = KeyframeAnimation(ms: 100)
        animation.startedAt = 1000
        animation.tracks[.positionX] = keyframes
        change(&animation)
        return animation
    }

    private static func values(_ animation: KeyframeAnimation, _ times: [Double], over beneath: Double = 7) -> [Double]
    {
        times.map { Playback(Motion(), animation).shown(.positionX, stored: beneath, at: 1000 + $0) }
    }

    @Test func itHasAnEffectFromItsDelayOnUntilItsEnd() {
        let animation = Self.animation([.init(at: 0, value: 10), .init(at: 1, value: 20)]) {
            ($0.delayMs, $0.iterations) = (50, 1.5)
        }
        #expect(Self.values(animation, [-1, 49, 50, 100, 150, 199, 200, 1e9]) == [7, 7, 10, 15, 10, 14.9, 7, 7])
        #expect(animation.endsAt == 1200)
        #expect(!animation.isOver(at: 1199) && animation.isOver(at: 1200))
        // A field without a track is what is beneath.
        #expect(Playback(Motion(), animation).shown(.rotation, stored: 3, at: 1100) == 3)
    }

    @Test func aStartFarAheadCountsAsLongOver() {
        let animation = Self.animation([.init(at: 0, value: 10)]) { $0.iterations = .infinity }
        #expect(!animation.isOver(at: 1000 - 60_000) && animation.isOver(at: 999 - 60_000))
        #expect(Self.values(animation, [-60_001]) == [7])
    }

    @Test func directionsRunBackwards() {
        let ends: [(KeyframeAnimation.Direction, [Double])] = [
            (.normal, [10, 12.5, 10, 12.5, 10, 12.5]), (.reverse, [20, 17.5, 20, 17.5, 20, 17.5]),
            (.alternate, [10, 12.5, 20, 17.5, 10, 12.5]), (.alternateReverse, [20, 17.5, 10, 12.5, 20, 17.5]),
        ]
        for (direction, expected) in ends {
            let animation = Self.animation([.init(at: 0, value: 10), .init(at: 1, value: 20)]) {
                ($0.iterations, $0.direction) = (.infinity, direction)
            }
            #expect(Self.values(animation, [0, 25, 100, 125, 200, 225]) == expected, "\(direction)")
        }
    }

    @Test func whatIsMissingAtTheEndsIsWhatIsBeneath() {
        let animation = Self.animation([.init(at: 0.5, value: 20, curve: .steps(count: 1, jump: .end))])
        #expect(Self.values(animation, [0, 25, 50, 99], over: 10) == [10, 15, 20, 20])
        let late = Self.animation([.init(at: 1, value: 20)])
        #expect(Self.values(late, [0, 50], over: 10) == [10, 15])
        let early = Self.animation([.init(at: 0, value: 20)])
        #expect(Self.values(early, [0, 50], over: 10) == [20, 15])
    }

    @Test func twoAtOnePlaceAreAJump() {
        let animation = Self.animation([
            .init(at: 0, value: 1), .init(at: 0, value: 10), .init(at: 0.5, value: 20), .init(at: 0.5, value: 0),
            .init(at: 0.5, value: 40), .init(at: 1, value: 60), .init(at: 1, value: 80),
        ])
        #expect(Self.values(animation, [0, 25, 50, 75]) == [10, 15, 40, 50])
        var reversed = animation
        reversed.direction = .reverse
        #expect(Self.values(reversed, [0, 25, 50, 75]) == [80, 50, 40, 15])
    }

    @Test func addingAddsPlainNumbers() {
        let animation = Self.animation([.init(at: 0.5, value: 20)]) { $0.composite = .add }
        #expect(Self.values(animation, [0, 25, 50, 75], over: 10) == [10, 20, 30, 20])
    }

    @Test func theCurveOfAKeyframeLeadsToTheNext() {
        let animation = Self.animation([
            .init(at: 0, value: 0, curve: .steps(count: 2, jump: .end)), .init(at: 0.5, value: 10, curve: .easeIn),
            .init(at: 1, value: 20, curve: .easeOut),
        ])
        let easeIn = 10 + 10 * Easing.easeIn.progress(at: 0.5)
        #expect(Self.values(animation, [0, 24, 25, 49, 50, 75]) == [0, 0, 5, 5, 10, easeIn])
    }

    @Test func iterationsGoOnForYears() {
        let animation = Self.animation([.init(at: 0, value: 0), .init(at: 1, value: 1)]) {
            ($0.iterations, $0.ms) = (.infinity, 16)
        }
        #expect(Self.values(animation, [16 * 1e10 + 4]) == [0.25])
        #expect(!animation.isOver(at: 1e15) && animation.endsAt == .infinity)
    }
}
