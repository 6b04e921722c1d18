import Canvas
import Testing

@Suite struct LiveMotionTests {
    private static func motion(startedAt: Double, _ fields: ElementField...) -> Motion {
        var motion = Motion()
        for field in fields {
            let segment = Segment(from: 0, to: 100, ms: 1000, curve: .easing(.linear))
            motion[field] = Track(startedAt: startedAt, segments: [segment])
        }
        return motion
    }

    private static func animation(startedAt: Double) -> KeyframeAnimation {
        var animation = KeyframeAnimation(ms: 500)
        animation.tracks[.rotation] = [.init(at: 0, value: 0)]
        animation.startedAt = startedAt
        return animation
    }

    @Test(arguments: [(9000.0, 9700.0), (9699, 9700), (9800, 9800), (10_000, 10_000), (10_001, 10_000)])
    func whatALiveUpdateBringsStartsWithinThreeTenthsBeforeItsArrival(told: Double, shown: Double) {
        var live = LiveMotion()
        live.update(
            to: Playback(Self.motion(startedAt: told, .positionX), Self.animation(startedAt: told)), arrival: 10_000)
        #expect(live.playback.motion[.positionX]?.startedAt == shown)
        #expect(live.playback.animation?.startedAt == shown)
        // Snapshots, replays and the history go by the clock alone.
        live.update(
            to: Playback(Self.motion(startedAt: told, .positionX), Self.animation(startedAt: told)), arrival: nil)
        #expect(live.playback.motion[.positionX]?.startedAt == told)
        #expect(live.playback.animation?.startedAt == told)
    }

    @Test func aStartThatIsRepeatedStays() {
        var live = LiveMotion()
        live.update(
            to: Playback(Self.motion(startedAt: 9000, .positionX), Self.animation(startedAt: 9000)), arrival: 10_000)
        var next = Self.motion(startedAt: 9000, .positionX)
        next[.positionY] = Self.motion(startedAt: 9000, .positionY)[.positionY]
        live.update(to: Playback(next, Self.animation(startedAt: 9000)), arrival: 10_100)
        #expect(live.playback.motion[.positionX]?.startedAt == 9700)
        #expect(live.playback.motion[.positionY]?.startedAt == 9800)
        #expect(live.playback.animation?.startedAt == 9700)
        // That of a snapshot, too.
        live.update(to: Playback(next, Self.animation(startedAt: 9000)), arrival: nil)
        live.update(to: Playback(next, Self.animation(startedAt: 9000)), arrival: 10_200)
        #expect(live.playback.motion[.positionX]?.startedAt == 9000)
        #expect(live.playback.animation?.startedAt == 9000)
        // Another one does not.
        live.update(to: Playback(Self.motion(startedAt: 9001, .positionX), nil), arrival: 10_200)
        #expect(live.playback.motion[.positionX]?.startedAt == 9900)
        #expect(live.playback.animation == nil && live.playback.motion.fields == [.positionX])
    }

    @Test func itSaysUntilWhenItMoves() {
        var live = LiveMotion()
        #expect(live.playback.end(from: 0) == -.infinity)
        live.update(to: Playback(Self.motion(startedAt: 1000, .positionX), nil), arrival: nil)
        #expect(
            live.playback.end(from: 0) == 2000 && live.playback.end(from: 1999) == 2000
                && live.playback.end(from: 2000) == -.infinity)
        live.update(to: Playback(Motion(), Self.animation(startedAt: 1000)), arrival: nil)
        #expect(
            live.playback.end(from: 0) == 1500 && live.playback.end(from: 1499) == 1500
                && live.playback.end(from: 1500) == -.infinity)
        var endless = Self.animation(startedAt: 1000)
        endless.iterations = .infinity
        live.update(to: Playback(Self.motion(startedAt: 1000, .positionX), endless), arrival: nil)
        #expect(live.playback.end(from: 0) == .infinity && live.playback.end(from: 1e12) == .infinity)
        // What starts too far ahead counts as long over.
        var ahead = Self.motion(startedAt: 1000, .positionX)
        ahead[.positionY] = Self.motion(startedAt: 60_001, .positionY)[.positionY]
        live.update(to: Playback(ahead, nil), arrival: nil)
        #expect(live.playback.end(from: 0) == 2000 && live.playback.end(from: 1) == 61_001)
    }

    @Test func itShowsWithItsOwnStarts() {
        var live = LiveMotion()
        live.update(to: Playback(Self.motion(startedAt: 0, .positionX), nil), arrival: 10_000)
        let stored = Pose(position: Point(x: 100, y: 7), rotation: .zero, scaleX: 1, scaleY: 1)
        #expect(live.playback.shown(stored, at: 10_000).position == Point(x: 30, y: 7))
        #expect(live.playback.shown(stored, at: 10_700).position == Point(x: 100, y: 7))
    }
}
