import Canvas
import Foundation
import JSONBytes
import Testing

@Suite struct ShownTests {
    private static let stored = Pose(
        position: Point(x: 10, y: 20), rotation: Angle(degrees: 30), scaleX: 2, scaleY: -2, opacity: 0.5)

    private static func track(_ from: Double, _ to: Double, _ curve: Curve = .easing(.linear)) -> Track {
        Track(startedAt: 0, segments: [Segment(from: from, to: to, ms: 100, curve: curve)])
    }

    private static func animation(
        _ field: ElementField, _ values: [Double], _ composite: KeyframeAnimation.Composite = .replace
    ) -> KeyframeAnimation {
        var animation = KeyframeAnimation(ms: 100)
        animation.composite = composite
        animation.tracks[field] = values.enumerated().map { .init(at: Double($0) / 2, value: $1) }
        return animation
    }

    /// `Tests/Motion/golden.py` computed them apart, with 40 digits; the client for web pages reads the same.
    @Test func goldenValues() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Motion/golden.json")
        var document = JSONDocument()
        try document.parse(try String(contentsOf: file, encoding: .utf8).utf8, limits: .wellFormed)
        let start = try #require(document.root["start"]?.double)
        var count = 0
        for entry in try #require(document.root["cases"]).elements {
            let field = try #require(ElementField.allCases.first { entry["field"]?.isString($0.name) == true })
            let motion = try #require(entry["motion"].flatMap(Motion.init(json:)))
            let animation = entry["animation"].flatMap(KeyframeAnimation.init(json:))
            #expect((animation == nil) == (entry["animation"] == nil))
            let stored = try #require(entry["stored"]?.double)
            let keyframes = animation?.tracks[field] ?? []
            let segments = motion[field]?.segments ?? []
            let numbers = [1, stored] + keyframes.map(\.value) + segments.flatMap { [$0.from, $0.to] }
            let text = String(decoding: entry.rawBytes, as: UTF8.self)
            let isBezier = text.contains("bezier") || text.contains("ease")
            let allowed = (numbers.map(\.magnitude).max() ?? 1) * (isBezier ? 1e-5 : 1e-9)
            let times = try #require(entry["at"]).elements
            for (time, value) in zip(times, try #require(entry["values"]).elements) {
                let shown = Playback(motion, animation).shown(field, stored: stored, at: start + (time.double ?? .nan))
                #expect((shown - (value.double ?? .nan)).magnitude <= allowed, "\(text) at \(time.double ?? .nan)")
                count += 1
            }
        }
        #expect(count == 2000)
    }

    @Test func theStoredPoseShowsWhereNothingMoves() {
        #expect(Playback().shown(Self.stored, at: 50) == Self.stored)
        var motion = Motion()
        for field in ElementField.animated { motion[field] = Self.track(1, 3) }
        #expect(Playback(motion, Self.animation(.rotation, [5, 5, 5])).shown(Self.stored, at: 100) == Self.stored)
    }

    @Test func theMotionComesBeforeTheAnimation() {
        var motion = Motion()
        motion[.positionX] = Self.track(100, 200)
        motion[.rotation] = Self.track(350, 370)
        var shown = Playback(motion).shown(Self.stored, at: 75)
        #expect(shown.position == Point(x: 175, y: 20))
        // Angles are shown within a turn.
        #expect(shown.rotation.degrees == 5)
        shown = Playback(motion, Self.animation(.positionX, [0, 8], .add)).shown(Self.stored, at: 25)
        #expect(shown.position.x == 129)
        shown = Playback(motion, Self.animation(.positionX, [0, 8])).shown(Self.stored, at: 25)
        #expect(shown.position.x == 4)
    }

    @Test func whatAddsCanBeLeftOut() {
        var motion = Motion()
        motion[.positionX] = Self.track(100, 200)
        for (composite, expected) in [(KeyframeAnimation.Composite.add, 125.0), (.replace, 4)] {
            let shown = Playback(motion, Self.animation(.positionX, [0, 8], composite)).shown(
                .positionX, stored: 7, at: 25, adding: false)
            #expect(shown == expected)
        }
    }

    @Test func aScaleStaysOnItsSideBetweenTwoOfOneSign() {
        let wild = Curve.spring(Spring(response: 0.2, damping: 0.05, velocity: 0))
        for (from, to) in [(5.0, 0.1), (-5, -0.1)] {
            var motion = Motion()
            motion[.scaleX] = Self.track(from, to, wild)
            let values = (0..<100).map { Playback(motion).shown(.scaleX, stored: to, at: Double($0)) }
            #expect(values.allSatisfy { $0 * from > 0 && $0.magnitude >= 0.001 })
            #expect(values.contains { $0.magnitude == 0.001 })
        }
        // A flip passes through 0, and so does an animation of it.
        var flip = Motion()
        flip[.scaleX] = Self.track(1, -1)
        #expect(Playback(flip).shown(.scaleX, stored: -1, at: 50) == 0)
        var animation = Self.animation(.scaleY, [1, 1, 1])
        animation.tracks[.scaleY]?[0].curve = .bezier(x1: 0, y1: -10, x2: 1, y2: -10)
        #expect(Playback(Motion(), animation).shown(.scaleY, stored: 1, at: 25) == 1)
        animation.tracks[.scaleY]?[1].value = 2
        #expect(Playback(Motion(), animation).shown(.scaleY, stored: 1, at: 25) == 0.001)
        animation.tracks[.scaleY]?[0].value = -1
        #expect(Playback(Motion(), animation).shown(.scaleY, stored: 1, at: 25) < -1)
        // What is added counts with what is beneath.
        animation.composite = .add
        #expect(Playback(Motion(), animation).shown(.scaleY, stored: 3, at: 25) == 0.001)
    }

    @Test func anOpacityStaysWithinItsRange() {
        var motion = Motion()
        motion[.opacity] = Self.track(0, 1, .easing(.bezier(x1: 0, y1: 10, x2: 1, y2: -10)))
        let values = (0..<100).map { Playback(motion).shown(.opacity, stored: 1, at: Double($0)) }
        #expect(values.allSatisfy { (0...1).contains($0) } && values.contains(1))
        let animation = Self.animation(.opacity, [-2, -2, -2], .add)
        #expect(Playback(motion, animation).shown(.opacity, stored: 1, at: 200) == 1)
        #expect(Playback(motion, animation).shown(.opacity, stored: 1, at: 99) == 0)
    }
}
