import Canvas
import JSONBytes
import Testing

@Suite struct ConstraintTests {
    private static func constrained(_ constraints: String, _ more: String = "") throws -> Element {
        try created("note", #""constraints":\#(constraints)\#(more.isEmpty ? "" : "," + more)"#).0
    }

    @Test func anElementMovesAlongItsAxisOnly() throws {
        var note = try Self.constrained(#"{"axis":"x"}"#, #""positionX":5,"positionY":7"#)
        // It was put there, not moved.
        #expect((note.positionX, note.positionY) == (5, 7))
        let adjusted = rules.apply(TransformFields(positionX: 20, positionY: 30), to: &note)
        #expect(adjusted == [adjustment("positionY", 30, 7, .constraint)])
        #expect((note.positionX, note.positionY) == (20, 7))
        #expect(rules.apply(TransformFields(positionX: 21, positionY: 7), to: &note).isEmpty)
        note.constraints?.axis = .y
        let other = rules.apply(.init(positionX: 0, positionY: 8.5), to: &note)
        #expect(other == [adjustment("positionX", 0, 21, .constraint), adjustment("positionY", 8.5, 9, .integer)])
        // What it ignores stays, even where the rules would not allow it any more.
        note.bounds = Bounds(x: 0, y: 0, width: 5, height: 5)
        #expect(rules.apply(TransformFields(positionX: 3), to: &note) == [adjustment("positionX", 3, 21, .constraint)])
    }

    @Test func anotherAnchorMovesNothingOnAnIgnoredAxisEither() throws {
        var note = try Self.constrained(
            #"{"axis":"x","grid":{"y":1000}}"#, #""rotation":90,"anchorX":0,"anchorY":0.5"#)
        let corners = note.corners()
        var gesture = Gesture.drag(Point(x: 10, y: 10))
        gesture.anchor = Point(x: 1, y: 0.5)
        #expect(rules.apply(gesture, to: &note).map(\.why) == [.constraint])
        #expect((note.positionX, note.positionY) == (10, 100))
        #expect(isClose(note.corners(), corners.map { $0 + Point(x: 10, y: 0) }))
    }

    @Test func aHandLeavesAnIgnoredAxisAlone() throws {
        let note = try Self.constrained(#"{"axis":"y"}"#, #""positionX":5"#)
        for anchor in [nil, Point(x: 1, y: 1)] {
            var hand = GestureTracker(of: note, anchor: anchor)
            hand.drag(to: Point(x: 30, y: 40))
            #expect(hand.fields(under: rules) == TransformFields(positionY: 40))
            hand.rotate(to: 180)
            #expect(hand.fields(under: rules) == TransformFields(positionY: anchor == nil ? 40 : 140, rotation: 180))
            #expect(hand.drawn(under: rules).positionX == 5)
        }
    }

    @Test(arguments: [
        (10, 50, 30, 30), (10, 50, 5, 10), (10, 50, 51, 50), (10, 50, 209, 50), (10, 50, 211, 10),
        // The lower end of equals.
        (10, 50, 210, 10),
        (-30, 30, 345, 345), (-30, 30, 31, 30), (-30, 30, 329, 330), (350, 360, 0, 0), (350, 360, 5, 0),
        (-360, 0, 123, 123), (0, 360, 359, 359), (90, 90, 200, 90), (-90, -90, 0, 270),
    ])
    func aRotationStaysOnItsArc(low: Double, high: Double, sent: Double, stored: Double) throws {
        var note = try Self.constrained("{}")
        note.constraints?.rotation = low...high
        for turns in [-2.0, 0, 1] {
            let angle = sent + 360 * turns
            let adjusted = rules.apply(TransformFields(rotation: angle), to: &note)
            #expect(note.rotation == stored)
            #expect(adjusted == (sent == stored ? [] : [adjustment("rotation", angle, stored, .constraint)]))
        }
    }

    @Test func aTypeThatDoesNotRotateWinsOverTheArc() throws {
        var audio = try created("audio", #""constraints":{"rotation":{"min":30,"max":60}},"rotation":45"#).0
        #expect(audio.rotation == 0)
        #expect(rules.apply(.init(rotation: 40), to: &audio) == [adjustment("rotation", 40, 0, .rotation)])
    }

    @Test func snappingFollowsTheArc() throws {
        var note = try Self.constrained(#"{"rotation":{"min":40,"max":80}}"#, #""snapDegrees":30"#)
        #expect(rules.apply(.init(rotation: 10), to: &note) == [adjustment("rotation", 10, 30, .snap)])
        #expect(rules.apply(.init(rotation: 100), to: &note) == [adjustment("rotation", 100, 90, .snap)])
        note.constraints?.rotation = 60...80
        #expect(rules.apply(.init(rotation: 10), to: &note) == [adjustment("rotation", 10, 60, .constraint)])
    }

    @Test func scalesStayInTheirRangeWithinThatOfTheType() throws {
        var note = try Self.constrained(#"{"scale":{"min":0.5,"max":2}}"#)
        #expect(
            rules.apply(.init(scaleX: -3, scaleY: 0.1), to: &note) == [
                adjustment("scaleX", -3, -2, .constraint), adjustment("scaleY", 0.1, 0.5, .constraint),
            ])
        // The type allows 0.1 to 10.
        note.constraints?.scale = 20...30
        #expect(rules.apply(.init(scaleX: 1), to: &note) == [adjustment("scaleX", 1, 10, .constraint)])
        #expect(rules.apply(.init(scaleX: 25), to: &note) == [adjustment("scaleX", 25, 10, .range)])
        note.constraints?.scale = 1e-9...2e-9
        #expect(rules.apply(.init(scaleX: 1), to: &note) == [adjustment("scaleX", 1, 0.1, .constraint)])
        var photo = try created("photo", #""constraints":{"scale":{"min":1,"max":2}}"#).0
        #expect(rules.apply(.init(scaleX: 4), to: &photo) == [adjustment("scaleX", 4, 2, .constraint)])
        #expect((photo.scaleX, photo.scaleY) == (2, 2))
        // The smallest size wins over it, as over the range.
        let audio = try created("audio", #""originalWidth":100,"constraints":{"scale":{"min":0.5,"max":0.6}}"#).0
        #expect(audio.scaleX == 1.2)
    }

    @Test(
        arguments: [
            (10, nil, 14, 10), (10, nil, 15, 20), (10, nil, -15, -20), (10, nil, -14, -10), (10, 3, 14, 13),
            (10, 3, 18, 23),
            (10, 103, 14, 13), (10, -7, 14, 13), (2.5, nil, 4, 5), (2.5, nil, 2.4, 3), (2.5, nil, 1.24, 0),
            // Before rounding: 4.5 is halfway, 4.4 is nearer to 0.
            (9, nil, 4.5, 9), (9, nil, 4.4, 0),
            // Two lines are as near to any whole pixel: it stays.
            (1, 0.5, 7, 7), (0.1, nil, 7, 7), (1e300, nil, 7, 0), (1e-300, 1e300, 7, 7),
        ] as [(Double, Double?, Double, Double)])
    func aPositionSnapsToTheGrid(step: Double, offset: Double?, sent: Double, stored: Double) throws {
        var note = try Self.constrained("{}")
        note.constraints?.grid = Constraints.Grid(x: step, offsetX: offset)
        let adjusted = rules.apply(TransformFields(positionX: sent, positionY: 14), to: &note)
        #expect((note.positionX, note.positionY) == (stored, 14))
        #expect(adjusted == (sent == stored ? [] : [adjustment("positionX", sent, stored, .constraint)]))
        #expect(rules.apply(TransformFields(positionX: stored), to: &note).isEmpty)
        note.constraints?.grid = Constraints.Grid(y: step, offsetY: offset)
        _ = rules.apply(TransformFields(positionX: 14, positionY: sent), to: &note)
        #expect((note.positionX, note.positionY) == (14, stored))
    }

    @Test func boundsWinOverTheGrid() throws {
        var note = try Self.constrained(
            #"{"grid":{"x":10}}"#, #""bounds":{"x":3,"y":0,"width":23,"height":0}"#)
        #expect(rules.apply(.init(positionX: 4), to: &note) == [adjustment("positionX", 4, 3, .bounds)])
        #expect(rules.apply(.init(positionX: 25), to: &note) == [adjustment("positionX", 25, 26, .bounds)])
        #expect(rules.apply(.init(positionX: 21), to: &note) == [adjustment("positionX", 21, 20, .constraint)])
        // What is stored snaps to itself.
        note.bounds?.width = 20
        #expect(rules.apply(.init(positionX: 99), to: &note) == [adjustment("positionX", 99, 20, .constraint)])
        #expect(rules.apply(.init(positionX: 20), to: &note).isEmpty)
    }

    @Test func annotationsSnapToFractions() throws {
        var label = try created(
            "text", #""space":"normalized","parentId":"p","constraints":{"grid":{"x":0.25,"offsetX":0.0625}}"#
        ).0
        #expect(label.positionX == 0.0625)
        #expect(rules.apply(.init(positionX: 0.9), to: &label) == [adjustment("positionX", 0.9, 0.8125, .constraint)])
        #expect(rules.apply(.init(positionX: 0.8125), to: &label).isEmpty)
        label.constraints?.grid?.offsetX = 0.125
        #expect(rules.apply(.init(positionX: -1), to: &label) == [adjustment("positionX", -1, 0, .range)])
    }

    @Test func aNewElementObeysInWhatWasSentAndInTheDefaults() throws {
        let constraints =
            #"{"axis":"y","rotation":{"min":30,"max":60},"scale":{"min":2,"max":3},"grid":{"x":10,"offsetX":4}}"#
        let (note, adjusted) = try created("note", #""constraints":\#(constraints)"#)
        #expect((note.positionX, note.positionY, note.rotation, note.scaleX, note.scaleY) == (4, 0, 30, 2, 2))
        #expect(adjusted.isEmpty)
        let sent = #""positionX":12,"positionY":9,"rotation":90,"scaleX":1,"constraints":\#(constraints)"#
        #expect(
            try created("note", sent).1 == [
                adjustment("positionX", 12, 14, .constraint), adjustment("rotation", 90, 60, .constraint),
                adjustment("scaleX", 1, 2, .constraint),
            ])
    }

    @Test func settingThemMovesNothingNorDoesResizing() throws {
        var (note, _) = try created("note", #""positionX":3,"rotation":90,"scaleX":5"#)
        let before = note
        let set = #"{"axis":"y","rotation":{"min":0,"max":1},"scale":{"min":1,"max":2},"grid":{"x":10}}"#
        let changes = try ElementChanges(json(#"{"constraints":\#(set),"originalWidth":300}"#))
        #expect(rules.apply(changes, to: &note).isEmpty)
        #expect((note.positionX, note.rotation, note.scaleX, note.originalWidth) == (3, 90, 5, 300))
        #expect(text { note.constraints.encode(into: &$0) } == set)
        // The next transform obeys, in what it sends.
        #expect(rules.apply(.init(rotation: 90), to: &note) == [adjustment("rotation", 90, 1, .constraint)])
        #expect((note.positionX, note.scaleX) == (3, 5))
        // Replaced whole, and removed.
        _ = rules.apply(try ElementChanges(json(#"{"constraints":{"grid":{"y":7}}}"#)), to: &note)
        #expect(text { note.constraints.encode(into: &$0) } == #"{"grid":{"y":7}}"#)
        let change = ChangedElement(before: before, after: note)
        #expect(change.changesContent)
        _ = rules.apply(try ElementChanges(json(#"{"constraints":null}"#)), to: &note)
        #expect(note.constraints == nil)
        // Undone only where it is still set.
        var later = note
        change.undo(in: &later, hasLockedAspect: false)
        #expect(later.constraints == nil)
        later.constraints = change.after.constraints
        ChangedElement(before: note, after: later).undo(in: &later, hasLockedAspect: false)
        #expect(later.constraints == nil)
    }

    @Test(arguments: [
        ("1", ""), ("[]", ""), (#""x""#, ""),
        (#"{"axis":"z"}"#, ".axis"), (#"{"axis":null}"#, ".axis"), (#"{"axis":1}"#, ".axis"),
        (#"{"rotation":90}"#, ".rotation"), (#"{"rotation":null}"#, ".rotation"),
        (#"{"rotation":{}}"#, ".rotation.min"),
        (#"{"rotation":{"min":0}}"#, ".rotation.max"), (#"{"rotation":{"min":"0","max":1}}"#, ".rotation.min"),
        (#"{"rotation":{"min":-360.1,"max":0}}"#, ".rotation.min"),
        (#"{"rotation":{"min":0,"max":360.1}}"#, ".rotation.max"),
        (#"{"rotation":{"min":1,"max":0}}"#, ".rotation.max"),
        (#"{"rotation":{"min":-1,"max":360}}"#, ".rotation.max"),
        (#"{"scale":[1,2]}"#, ".scale"), (#"{"scale":{"min":0,"max":1}}"#, ".scale.min"),
        (#"{"scale":{"min":-1,"max":1}}"#, ".scale.min"), (#"{"scale":{"min":1,"max":null}}"#, ".scale.max"),
        (#"{"scale":{"min":2,"max":1}}"#, ".scale.max"), (#"{"grid":10}"#, ".grid"), (#"{"grid":{"x":0}}"#, ".grid.x"),
        (#"{"grid":{"x":-5}}"#, ".grid.x"), (#"{"grid":{"y":"5"}}"#, ".grid.y"), (#"{"grid":{"y":null}}"#, ".grid.y"),
        (#"{"grid":{"offsetX":true}}"#, ".grid.offsetX"), (#"{"grid":{"offsetY":[]}}"#, ".grid.offsetY"),
    ])
    func invalidNamesTheField(constraints: String, field: String) throws {
        let element = try json(#"{"type":"note","constraints":\#(constraints)}"#)
        #expect(refusedField { try NewElement(element, path: "element") } == "element.constraints" + field)
        let set = try json(#"{"constraints":\#(constraints)}"#)
        #expect(refusedField { try ElementChanges(set) } == "set.constraints" + field)
    }

    @Test(arguments: [
        "{}", #"{"grid":{}}"#, #"{"axis":"y"}"#, #"{"rotation":{"min":-360,"max":0},"scale":{"min":0.001,"max":5}}"#,
        #"{"axis":"x","rotation":{"min":0,"max":360},"scale":{"min":1,"max":1},"grid":{"x":1,"y":2.5,"offsetX":-3,"offsetY":0}}"#,
    ])
    func whatIsStoredComesBack(constraints: String) throws {
        let note = try Self.constrained(constraints)
        let written = text { note.encode(into: &$0) }
        #expect(written.contains(#""constraints":\#(constraints)"#))
        #expect(Element(json: try json(written)) == note)
        let broken = written.replacing(#""constraints":{"#, with: #""constraints":{"axis":0},"own":{"#)
        #expect(Element(json: try json(broken)) == nil)
        var new = NewElement(type: "note")
        new.constraints = note.constraints
        #expect(try NewElement(json(text { new.encode(into: &$0) }), path: "") == new)
    }

    @Test func valuesThatNoAppCouldSendAreNotStored() throws {
        var invalid: [Constraints] = Array(repeating: Constraints(), count: 4)
        invalid[0].rotation = -720...0
        invalid[1].scale = 0...1
        invalid[2].grid = Constraints.Grid(x: .nan)
        invalid[3].grid = Constraints.Grid(x: 1, offsetX: .infinity)
        var note = try Self.constrained(#"{"axis":"x"}"#)
        let before = note
        for constraints in invalid {
            var changes = ElementChanges()
            changes.constraints = .set(constraints)
            #expect(rules.apply(changes, to: &note).isEmpty)
            #expect(note == before)
        }
    }

    @Test func aGuideHasAnAxisForEver() throws {
        for axis in [#""z""#, "null", "1", #""""#] {
            let element = try json(#"{"type":"guide","axis":\#(axis)}"#)
            #expect(refusedField { try NewElement(element, path: "element") } == "element.axis")
        }
        #expect(refusedField { try NewElement(json(#"{"type":"guide"}"#), path: "") } == "axis")
        // It is any other type's own.
        #expect(try created("note", #""axis":7"#).0.extra.count == 1)
        var (guide, _) = try created("guide", #""axis":"y","positionY":30"#)
        #expect(guide.positionY == 30)
        for axis in [#""x""#, "null", "{}"] {
            let changes = try ElementChanges(json(#"{"axis":\#(axis),"label":"a"}"#))
            #expect(refusedField { try changes.check(on: guide) } == "set.axis")
            _ = rules.apply(changes, to: &guide)
            #expect(guide.extra == [ExtraField(name: "axis", json: Array(#""y""#.utf8))])
        }
        let same = try ElementChanges(json(#"{"axis":"y","label":"a"}"#))
        try same.check(on: guide)
        _ = rules.apply(same, to: &guide)
        #expect(guide.extra.map(\.name) == ["axis", "label"])
        #expect(rules.apply(.init(rotation: 40), to: &guide) == [adjustment("rotation", 40, 0, .rotation)])
    }
}
