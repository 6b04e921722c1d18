import Canvas
import JSONBytes
import Testing

@Suite struct ThrowTests {
    private static let time = 1_000_000.0
    /// −ln 0.998, a ms.
    private static let k = 0.00200200267066934

    private static func note(_ more: String = "") throws -> Element {
        try created("note", more).0
    }

    private static func thrown(
        _ element: Element, _ request: Throw, sent: TransformFields = TransformFields(),
        shown: TransformFields = TransformFields()
    ) -> ThrownElement {
        var all = [ThrownElement(element, fields: sent, shown: shown)]
        rules.apply(request, to: &all, at: Self.time)
        return all[0]
    }

    private static func thrown(_ element: Element, _ x: Double, _ y: Double = 0, bounce: Double = 0.3) -> ThrownElement
    {
        var request = Throw(velocity: Point(x: x, y: y))
        request.bounce = bounce
        return Self.thrown(element, request)
    }

    // MARK: The way

    @Test func itFliesUntilItIsSlowerThanAPixelASecond() throws {
        let one = Self.thrown(try Self.note(#""positionX":100"#), 1000, -1)
        // (1000 − 1) / (1000 k) = 499.0004
        #expect((one.element.positionX, one.element.positionY) == (599, 0))
        let track = try #require(one.tracks[.positionX])
        #expect((track.startedAt, track.segments.count) == (Self.time, 1))
        #expect((track.segments[0].from, track.segments[0].to) == (100, 599))
        #expect(track.segments[0].curve == .decay(Decay(rate: 0.998)))
        #expect(isClose(track.segments[0].ms, 6.907755278982137 / Self.k))
        // One that is no faster than that does not fly.
        #expect(one.tracks.fields == [.positionX])
        #expect(one.adjusted.isEmpty)
    }

    @Test func itStartsWithWhatWasSentElseWithWhatIsShown() throws {
        let note = try Self.note(#""positionX":100,"positionY":50"#)
        let one = Self.thrown(
            note, Throw(velocity: Point(x: 0, y: 100)), sent: TransformFields(positionX: 7.4, opacity: 2),
            shown: TransformFields(positionX: 500, positionY: -20.25))
        // Only fields that were sent are reported as clamped.
        #expect(one.adjusted == [adjustment("positionX", 7.4, 7, .integer), adjustment("opacity", 2, 1, .range)])
        #expect((one.element.positionX, one.element.positionY) == (7, 29))
        #expect(one.tracks[.positionX] == nil)
        #expect(one.tracks[.positionY]?.segments[0].from == -20.25)
    }

    // MARK: Where it rests

    @Test(
        arguments: [
            (Point(x: 480, y: 3), nil, Point(x: 480, y: 3)),
            // The first of equals.
            (Point(x: 489, y: -5), nil, Point(x: 489, y: -5)),
            (Point(x: 480, y: 3), 25, Point(x: 480, y: 3)),
            // Out of reach: the lines.
            (Point(x: 480, y: 3), 15, Point(x: 500, y: 0)),
        ] as [(Point, Double?, Point)])
    func itSnaps(point: Point, within: Double?, rest: Point) throws {
        var request = Throw(velocity: Point(x: 1000, y: 0))
        var snap = Throw.Snap()
        (snap.gridX, snap.gridY) = (50, 7)
        snap.points = [Point(x: 900, y: 0), point, Point(x: point.x, y: -point.y)]
        snap.within = within
        request.snap = snap
        let one = Self.thrown(try Self.note(), request)
        #expect((one.element.positionX, one.element.positionY) == (rest.x, rest.y))
        // A spring with the velocity of the hand, on each axis.
        guard case .spring(let spring) = try #require(one.tracks[.positionX]).segments[0].curve else {
            Issue.record("no spring")
            return
        }
        #expect(spring == Spring(response: 0.5, damping: 0.825, velocity: 1000))
        #expect((one.tracks[.positionY] != nil) == (rest.y != 0))
    }

    @Test func theRulesMakeItTheRest() throws {
        let note = try Self.note(#""constraints":{"axis":"x","grid":{"x":200}}"#)
        let one = Self.thrown(
            note, Throw(velocity: Point(x: 1000, y: 1000)), shown: TransformFields(positionX: 10, positionY: 40))
        #expect((one.element.positionX, one.element.positionY) == (600, 0))
        #expect(one.adjusted.isEmpty)
        let springs = [ElementField.positionX, .positionY].map { one.tracks[$0]?.segments.map(\.curve) }
        // The hand has no velocity on the axis that is ignored.
        #expect(springs[0] == [.spring(Spring(response: 0.5, damping: 0.825, velocity: 1000))])
        #expect(springs[1] == [.spring(Spring(response: 0.5, damping: 0.825, velocity: 0))])
        #expect(one.tracks[.positionY]?.segments[0].from == 40)
        #expect(Self.thrown(note, 0, 1000).tracks.isEmpty)
    }

    // MARK: Walls

    @Test func aWallIsLeftWithAShareOfTheSpeed() throws {
        let note = try Self.note(#""positionX":-50,"bounds":{"x":-200.5,"y":0,"width":1000,"height":0}"#)
        let one = Self.thrown(note, -1000, 5000)
        #expect((one.element.positionX, one.element.positionY) == (-200, 0))
        let segments = try #require(one.tracks[.positionX]).segments
        #expect(segments.map(\.from) == [-50, -200] && segments.map(\.to) == [-200, -200])
        let left = 1000 - 1000 * Self.k * 150
        #expect(isClose(segments[0].velocity(after: segments[0].ms - 1e-9), -left, within: 1e-6))
        guard case .spring(let spring) = segments[1].curve else {
            Issue.record("no spring")
            return
        }
        #expect((spring.response, spring.damping) == (0.5, 1))
        #expect(isClose(spring.velocity, 0.3 * left))
        // It touches the other wall already.
        guard case .spring(let other) = try #require(one.tracks[.positionY]).segments[0].curve else {
            Issue.record("no spring")
            return
        }
        #expect((one.tracks[.positionY]?.segments.count, other.velocity) == (1, -1500))
        // Nothing to be seen of a bounce that is none.
        #expect(Self.thrown(note, -1000, bounce: 0).tracks[.positionX]?.segments.count == 1)
        #expect(Self.thrown(note, 0, -5000, bounce: 0).tracks.isEmpty)
    }

    @Test func fromBeyondAWallItIsPulledBack() throws {
        var note = try Self.note(#""positionX":300"#)
        note.bounds = Bounds(x: 0, y: -9, width: 100, height: 9)
        for velocity in [1000.0, -3000] {
            let one = Self.thrown(note, velocity)
            #expect(one.element.positionX == (velocity > 0 ? 100 : 0))
            let spring = Spring(response: 0.5, damping: 0.825, velocity: velocity)
            #expect(one.tracks[.positionX]?.segments.map(\.curve) == [.spring(spring)])
        }
    }

    @Test func annotationsFlyInFractions() throws {
        var label = try created("text", #""space":"normalized","parentId":"p","positionX":0.25,"positionY":0.5"#).0
        // (0.1 − 0.001) / (1000 k) = 0.04945
        var one = Self.thrown(label, 0.1, -0.001)
        #expect(isClose(one.element.positionX, 0.25 + 0.099 / (1000 * Self.k)))
        #expect(isClose(try #require(one.tracks[.positionX]).segments[0].ms, 4.605170185988092 / Self.k))
        #expect(one.tracks.fields == [.positionX])
        one = Self.thrown(label, 9, -99)
        #expect((one.element.positionX, one.element.positionY) == (1, 0))
        #expect(one.adjusted == [adjustment("velocity.y", -99, -20, .range)])
        #expect(one.tracks[.positionX]?.segments.map(\.to) == [1, 1])
        label.bounds = Bounds(x: 0.1, y: 0.1, width: 0.3, height: 5)
        one = Self.thrown(label, 9, 9)
        #expect((one.element.positionX, one.element.positionY) == (0.4, 1))
        #expect(one.tracks.entries.map(\.value.segments.count) == [2, 2])
    }

    // MARK: Rotation

    private static func turned(_ element: Element, _ velocity: Double, from degrees: Double? = nil) -> ThrownElement {
        Self.thrown(
            element, Throw(velocity: .zero, angularVelocity: velocity), shown: TransformFields(rotation: degrees))
    }

    @Test func aRotationKeepsItsTurns() throws {
        let one = Self.turned(try Self.note(), -3600, from: 350)
        let segment = try #require(one.tracks[.rotation]).segments[0]
        // 3599 / (1000 k) = 1797.7 degrees.
        #expect((segment.from, one.tracks.fields) == (350, [.rotation]))
        #expect(isClose(segment.to, 350 - 3599 / (1000 * Self.k)))
        #expect(segment.curve == .decay(Decay(rate: 0.998)))
        #expect(isClose(one.element.rotation, Angle(degrees: segment.to).degrees))
        let clamped = Self.turned(try Self.note(), 1e300)
        #expect(clamped.adjusted == [adjustment("angularVelocity", 1e300, 3600, .range)])
        // Without one it is not thrown.
        #expect(Self.thrown(try Self.note(#""rotation":30"#), 100).element.rotation == 30)
    }

    @Test func aRotationRestsWhereItSnaps() throws {
        let one = Self.turned(try Self.note(#""snapDegrees":90"#), 1000, from: 10)
        let segment = try #require(one.tracks[.rotation]).segments[0]
        // 10° + 499°: 540° is nearest.
        #expect((one.element.rotation, segment.from) == (180, 10))
        #expect(isClose(segment.to, 540))
        #expect(segment.curve == .spring(Spring(response: 0.5, damping: 0.825, velocity: 1000)))
        let still = Self.turned(try created("audio").0, 500)
        #expect((still.element.rotation, still.tracks.isEmpty) == (0, true))
        #expect(still.adjusted == [adjustment("angularVelocity", 500, 0, .rotation)])
    }

    // MARK: Groups

    @Test func theNearestWallStopsAGroup() throws {
        let bounded = #","bounds":{"x":0,"y":-1000,"width":300,"height":2000}"#
        var group = try [
            #""positionX":0"#, #""positionX":200"# + bounded, #""positionX":100"# + bounded,
            #""positionX":50,"constraints":{"axis":"y"},"bounds":{"x":0,"y":-1000,"width":60,"height":2000}"#,
        ].map { ThrownElement(try Self.note($0), fields: TransformFields(), shown: TransformFields()) }
        rules.apply(Throw(velocity: Point(x: 1000, y: 30_000)), to: &group, at: Self.time)
        // The last one is held, so its wall stops nobody.
        #expect(group.map(\.element.positionX) == [100, 300, 200, 50])
        #expect(group.map(\.element.positionY) == [1000, 1000, 1000, 1000])
        #expect(group.map(\.adjusted) == [[adjustment("velocity.y", 30_000, 20_000, .range)], [], [], []])
        let ends = group.map { $0.tracks[.positionX]?.segments.map(\.ms) }
        #expect(ends[0]?.count == 2 && ends[1] == ends[0] && ends[2] == ends[0] && ends[3] == nil)
    }

    @Test func onlyTheFirstOfAGroupSnapsAndOneBeyondItsWallStopsAll() throws {
        func group(beyond: Bool) throws -> [ThrownElement] {
            var all = try [#""positionX":0"#, #""positionX":33"#].map {
                ThrownElement(try Self.note($0), fields: TransformFields(), shown: TransformFields())
            }
            if beyond { all[1].element.bounds = Bounds(x: 0, y: 0, width: 20, height: 0) }
            var request = Throw(velocity: Point(x: 1000, y: 0))
            request.snap = Throw.Snap()
            request.snap?.gridX = 400
            rules.apply(request, to: &all, at: Self.time)
            return all
        }
        #expect(try group(beyond: false).map(\.element.positionX) == [400, 433])
        let stopped = try group(beyond: true)
        #expect(stopped.map(\.element.positionX) == [0, 20])
        // The one that may stay bounces off the other's wall.
        #expect(
            stopped.map { $0.tracks[.positionX]?.segments.map(\.curve) } == [
                [.spring(Spring(response: 0.5, damping: 1, velocity: -300))],
                [.spring(Spring(response: 0.5, damping: 0.825, velocity: 1000))],
            ])
    }

    // MARK: JSON

    @Test(arguments: [
        ("{}", "velocity"), (#"{"velocity":5}"#, "velocity"), (#"{"velocity":{"y":1}}"#, "velocity.x"),
        (#"{"velocity":{"x":1,"y":"1"}}"#, "velocity.y"), (#"V"angularVelocity":null"#, "angularVelocity"),
        (#"V"rate":0.89"#, "rate"), (#"V"rate":0.9996"#, "rate"), (#"V"rate":"1""#, "rate"),
        (#"V"bounce":-0.1"#, "bounce"),
        (#"V"bounce":1.1"#, "bounce"), (#"V"snap":1"#, "snap"), (#"V"snap":{"grid":5}"#, "snap.grid"),
        (#"V"snap":{"grid":{"x":0}}"#, "snap.grid.x"), (#"V"snap":{"grid":{"y":null}}"#, "snap.grid.y"),
        (#"V"snap":{"points":{}}"#, "snap.points"), (#"V"snap":{"points":[]}"#, "snap.points"),
        (#"V"snap":{"points":[{"x":1,"y":2},{"x":1}]}"#, "snap.points[1].y"),
        (#"V"snap":{"points":[1]}"#, "snap.points[0]"), (#"V"snap":{"within":-1}"#, "snap.within"),
        (#"V"snap":{"within":null}"#, "snap.within"),
    ])
    func invalidNamesTheField(text: String, field: String) throws {
        let payload = text.hasPrefix("V") ? #"{"velocity":{"x":1,"y":2},\#(text.dropFirst())}"# : text
        #expect(refusedField { try Throw(json(payload), isGroup: false) } == field)
    }

    @Test func aGroupIsNotTurnedAndHasAtMost64Points() throws {
        let payload = try json(#"{"velocity":{"x":1,"y":2},"angularVelocity":1}"#)
        #expect(refusedField { try Throw(payload, isGroup: true) } == "angularVelocity")
        func points(_ count: Int) throws -> JSONValue {
            let list = Array(repeating: #"{"x":1,"y":2}"#, count: count).joined(separator: ",")
            return try json(#"{"velocity":{"x":1,"y":2},"snap":{"points":[\#(list)]}}"#)
        }
        #expect(try Throw(points(64), isGroup: true).snap?.points.count == 64)
        #expect(refusedField { try Throw(points(65), isGroup: true) } == "snap.points")
    }

    @Test(arguments: [
        (#"{"velocity":{"x":1.0,"y":-2e3}}"#, #"{"velocity":{"x":1,"y":-2000},"rate":0.998,"bounce":0.3}"#),
        (
            #"{"snap":{"within":5,"points":[{"y":1,"x":0}],"grid":{"y":2}},"bounce":1,"rate":0.9,"angularVelocity":-7,"velocity":{"x":0,"y":0}}"#,
            #"{"velocity":{"x":0,"y":0},"angularVelocity":-7,"rate":0.9,"bounce":1,"snap":{"grid":{"y":2},"points":[{"x":0,"y":1}],"within":5}}"#
        ),
        (
            #"{"velocity":{"x":0,"y":0},"snap":{"grid":{}}}"#,
            #"{"velocity":{"x":0,"y":0},"rate":0.998,"bounce":0.3,"snap":{}}"#
        ),
    ])
    func itIsWrittenInOneWay(sent: String, written: String) throws {
        let request = try Throw(json(sent), isGroup: false)
        #expect(text { request.encode(into: &$0) } == written)
        #expect(try Throw(json(written), isGroup: false) == request)
    }
}
