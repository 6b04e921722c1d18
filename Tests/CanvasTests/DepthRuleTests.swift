import Canvas
import JSONBytes
import Testing

/// The fields that take an element out of its plane, under the rules.
@Suite struct DepthRuleTests {
    private static let deep = TransformFields(positionZ: 40, rotationX: 30, rotationY: 350, perspective: 800)

    @Test(arguments: [
        ("positionZ", 2.5, 3, Adjustment.Why.integer), ("positionZ", -2.5, -3, .integer),
        ("positionZ", 2e6, 1e6, .range), ("positionZ", -1e6 - 0.5, -1e6, .range), ("positionZ", -1e6, -1e6, nil),
        ("positionZ", -0.2, 0, .integer),
        ("rotationX", 360, 0, nil), ("rotationX", -90, 270, nil), ("rotationY", 725, 5, nil),
        ("rotationY", -0.0, 0, nil),
        ("perspective", 0, 0, nil), ("perspective", 10, 50, .range), ("perspective", -800, 50, .range),
        ("perspective", 50, 50, nil), ("perspective", 1e6, 100_000, .range), ("perspective", 123.5, 123.5, nil),
    ])
    func eachHasItsRange(name: String, sent: Double, stored: Double, why: Adjustment.Why?) throws {
        let field = try #require(ElementField.moving.first { "\($0.name)" == name })
        var note = try created("note").0
        var fields = TransformFields()
        fields[field] = sent
        let adjustments = rules.apply(fields, to: &note)
        #expect(note[field] == stored)
        #expect(note[field].map { $0 == 0 && $0.sign == .minus } == false)
        #expect(adjustments == (why.map { [adjustment(name, sent, stored, $0)] } ?? []))
        let (new, ofNew) = try created("note", #""\#(name)":\#(sent)"#)
        #expect(new[field] == stored && ofNew == adjustments)
    }

    @Test func infinityAndNoNumberLeaveItFinite() throws {
        var note = try created("note").0
        _ = rules.apply(Self.deep, to: &note)
        let before = note
        _ = rules.apply(
            TransformFields(positionZ: .nan, rotationX: .nan, rotationY: .nan, perspective: .nan), to: &note)
        #expect(note == before)
        _ = rules.apply(TransformFields(positionZ: .infinity, rotationX: .infinity, perspective: .infinity), to: &note)
        #expect(note.positionZ == 1e6 && note.perspective == 100_000 && (0..<360).contains(note.rotationX))
    }

    @Test(arguments: ["audio", "guide", "annotation", "flat"])
    func whatHasNoDepthKeepsNone(kind: String) throws {
        let rules = try RulesTable(json: json(#"{"flat":{"depth":false}}"#))
        let body =
            kind == "annotation"
            ? #""type":"note","parentId":"p","space":"normalized""# : #""type":"\#(kind)","axis":"x""#
        var element = rules.create(
            try NewElement(json("{\(body)}"), path: ""), id: "e", by: "ann"
        ).0
        let plain = element
        let expected = [
            adjustment("positionZ", 40, 0, .depth), adjustment("rotationX", 30, 0, .rotation),
            adjustment("rotationY", 350, 0, .rotation), adjustment("perspective", 800, 0, .depth),
        ]
        #expect(rules.apply(Self.deep, to: &element) == expected)
        #expect(element == plain)
        // What asks for nothing is no adjustment.
        let nothing = TransformFields(positionZ: 0, rotationX: 360, rotationY: 0, perspective: 0)
        #expect(rules.apply(nothing, to: &element).isEmpty)
        let sent = try json(
            "{\(body),\"positionZ\":40,\"rotationX\":30,\"rotationY\":350,\"perspective\":800}")
        let (new, adjustments) = rules.create(try NewElement(sent, path: ""), id: "e", by: "ann")
        #expect(new == plain && adjustments == expected)
        #expect(!rules.gestures(on: element).contains(.tiltable))
    }

    @Test func aTypeThatDoesNotRotateMayHaveDepth() throws {
        let rules = try RulesTable(json: json(#"{"stiff":{"rotates":false}}"#))
        var element = rules.create(NewElement(type: "stiff"), id: "e", by: "ann").0
        #expect(rules.apply(Self.deep, to: &element).isEmpty)
        #expect((element.rotationX, element.rotationY) == (30, 350))
        #expect(rules.gestures(on: element) == [.draggable, .pinchable, .tiltable])
    }

    @Test func theRuleIsReadAndWritten() throws {
        let table = try RulesTable(json: json(#"{"map":{"depth":false}}"#))
        #expect(!table.rules(for: "map").depth && table.rules(for: "note").depth)
        #expect(try RulesTable(json: json(text { table.encode(into: &$0) })) == table)
        #expect(refusedField { try RulesTable(json: json(#"{"map":{"depth":0}}"#)) } == "map.depth")
        #expect(!rules.rules(for: "guide").rotates && !rules.rules(for: "guide").depth)
        #expect(rules.rules(for: "audio").depth == false)
    }

    @Test func snappingBoundsAndResetMeanTheirOwn() throws {
        var note = try created(
            "note", #""snapDegrees":45,"bounds":{"x":0,"y":0,"width":10,"height":10},"rotation":90"#
        ).0
        #expect(rules.apply(Self.deep, to: &note).isEmpty)
        #expect((note.rotationX, note.rotationY, note.positionZ) == (30, 350, 40))
        #expect(rules.apply(Preset.reset.fields(on: note), to: &note).isEmpty)
        #expect((note.rotation, note.rotationX, note.rotationY, note.positionZ) == (0, 0, 0, 40))
        #expect(note.perspective == 800)
    }

    @Test func leftOutWhenZeroAndReadWhereTheyStand() throws {
        let (note, _) = try created("note", #""positionZ":0,"rotationX":0,"rotationY":0,"perspective":0"#)
        #expect(text { note.encode(into: &$0) } == text { (try? created("note").0)?.encode(into: &$0) })
        var deep = note
        _ = rules.apply(Self.deep, to: &deep)
        let written = text { deep.encode(into: &$0) }
        #expect(try Element(json: json(written)) == deep)
        let geometry = ElementText(Array(written.utf8)).geometry()
        let read = try json(String(decoding: geometry, as: UTF8.self))
        for (field, value) in Self.deep.set { #expect(read[field.name]?.double == value, "\(field)") }
        let payload = try json(
            #"{"positionZ":40,"transform":{"rotationX":30,"rotationY":350,"perspective":800,"positionZ":1}}"#)
        for isPreview in [true, false] {
            #expect(try TransformFields(payload, isPreview: isPreview) == Self.deep)
        }
        for (bad, field) in [
            (#"{"positionZ":"1"}"#, "positionZ"), (#"{"transform":{"rotationX":null}}"#, "transform.rotationX"),
            (#"{"transform":{"perspective":[]}}"#, "transform.perspective"), (#"{"rotationY":3}"#, "transform"),
        ] {
            #expect(refusedField { try TransformFields(try json(bad), isPreview: false) } == field)
        }
        #expect(refusedField { try ElementChanges(try json(#"{"positionZ":1}"#)) } == "set.positionZ")
    }

    @Test func undoBringsThemBackFieldByField() throws {
        let (before, _) = try created("note")
        var after = before
        _ = rules.apply(Self.deep, to: &after)
        let change = ChangedElement(before: before, after: after)
        #expect(change.changesGeometry && !change.changesContent)
        var now = after
        _ = rules.apply(TransformFields(rotationX: 31), to: &now)
        #expect(change.undo(in: &now, hasLockedAspect: false) == nil)
        #expect(now.rotationX == 31 && now.rotationY == 0 && now.positionZ == 0 && now.perspective == 0)
    }
}

/// Tilts in gestures, and the way of a tilted element between two updates.
@Suite struct TiltTests {
    @Test func itAddsDegrees() throws {
        var (note, _) = try created("note", #""rotationX":350,"rotation":10"#)
        let gesture = try GestureFields(json(#"{"tilt":{"x":20,"y":-30}}"#)).gesture
        #expect(gesture == Gesture.tilt(Point(x: 20, y: -30)))
        #expect(gesture.fields(on: note) == TransformFields(rotationX: 370, rotationY: -30))
        #expect(rules.apply(gesture, to: &note).isEmpty)
        #expect((note.rotationX, note.rotationY, note.rotation) == (10, 330, 10))
        #expect(gesture.followed(by: gesture).tilt == Point(x: 40, y: -60))
        for (bad, field) in [(#"{"tilt":5}"#, "tilt"), (#"{"tilt":{"x":1}}"#, "tilt.y")] {
            #expect(refusedField { try GestureFields(try json(bad)) } == field)
        }
    }

    @Test func aPivotTurnsThePlaneAlone() throws {
        var (note, _) = try created("note", #""positionX":10,"rotationX":30,"rotationY":40"#)
        var gesture = Gesture.turn(degrees: 90)
        _ = rules.apply(gesture, to: &note, pivot: .zero)
        #expect((note.positionX, note.positionY, note.rotation) == (0, 10, 90))
        #expect((note.rotationX, note.rotationY, note.positionZ) == (30, 40, 0))
        gesture = .tilt(Point(x: 5, y: 6))
        _ = rules.apply(gesture, to: &note, pivot: .zero)
        #expect((note.rotationX, note.rotationY) == (35, 46))
        #expect((note.positionX, note.positionY, note.rotation) == (0, 10, 90))
    }

    @Test func aHandTiltsWithinTheRules() throws {
        let (note, _) = try created("note", #""rotationY":350"#)
        var hand = GestureTracker(of: note, kinds: rules.gestures(on: note))
        hand.tilt(to: Point(x: 0, y: 15))
        hand.tilt(to: Point(x: .nan, y: 0))
        #expect(hand.fields(under: rules) == TransformFields(rotationY: 5))
        hand.end(.tiltable)
        hand.tilt(to: Point(x: -10, y: 1))
        #expect(hand.fields(under: rules) == TransformFields(rotationX: 350, rotationY: 6))
        let (audio, _) = try created("audio")
        var other = GestureTracker(of: audio, kinds: rules.gestures(on: audio))
        other.tilt(to: Point(x: 9, y: 9))
        #expect(other.fields(under: rules).isEmpty)
        #expect(Gesture.tilt(Point(x: .infinity, y: 0)).isFinite == false)
    }

    @Test func itMovesByTheShortestRotationsAndPerspectiveJumps() throws {
        var (note, _) = try created("note", #""rotationX":350,"rotationY":10,"positionZ":10"#)
        var motion = try #require(RemoteMotion(from: note.pose))
        let from = note.pose
        (note.rotationX, note.rotationY, note.positionZ, note.perspective) = (10, 350, -10, 800)
        motion.receive(note.pose, at: 100, gap: 100)
        for pose in [motion.pose(at: 150), from.interpolated(to: note.pose, fraction: 0.5)] {
            #expect(isClose(pose.rotationX.degrees, 0) || isClose(pose.rotationX.degrees, 360))
            #expect(isClose(pose.rotationY.degrees, 0) || isClose(pose.rotationY.degrees, 360))
            #expect(isClose(pose.positionZ, 0) && pose.perspective == 800)
        }
        #expect(motion.pose(at: 200) == note.pose)
        #expect(from.interpolated(to: note.pose, fraction: 0) == from)
        let arrived = note.pose
        note.positionZ = .nan
        motion.receive(note.pose, at: 300)
        #expect(motion.pose(at: 400) == arrived)
    }
}
