import Canvas
import CommitterCore
import DatabaseTestKit
import JSONBytes
import PipelineTestKit
import Testing
import Wire

/// Edits of several elements, gestures and presets, decided on what is stored.
@Suite struct GroupTests {
    let database = TestDatabase()
    let bench: LedgerBench

    init() {
        self.bench = LedgerBench(on: self.database)
        self.bench.admit(commit(1, create("a", #"{"type":"note","positionX":10,"positionY":20,"mine":[1]}"#)))
        self.bench.admit(commit(2, create("b", #"{"type":"note","positionX":110,"positionY":20}"#)))
        self.bench.admit(commit(3, create("p", #"{"type":"photo","width":200,"height":100}"#)))
        self.bench.admit(
            commit(4, create("t", #"{"type":"text","parentId":"p","space":"normalized","positionX":0.5}"#)))
        self.bench.run()
    }

    private func run(_ number: UInt64, _ edit: EncodedEdit, gesture: UInt64 = 0) -> ShardLedger.Settlement {
        self.bench.admit(commit(number, edit, gesture: gesture))
        return self.bench.run()
    }

    /// What the database has of an element.
    private func stored(_ id: Identifier) throws -> Element {
        try #require(self.database.tables[ElementKey("room", id)]?.element)
    }

    private func move(_ moves: [(Identifier, Double)]) -> EncodedEdit {
        EncodedEdit(
            TransformElements(
                moves.map { TransformElement(element: $0.0, fields: TransformFields(positionX: $0.1, rotation: 90)) }))
    }

    @Test func aGroupIsOneUpdateUnderOneNumber() throws {
        let settlement = self.run(5, self.move([("b", 7.4), ("a", 8)]))
        #expect(settlement.updates.map(\.seq) == [5] && settlement.updates.map(\.event) == [.transformedMany])
        #expect(settlement.updates[0].elements.map(\.id) == ["b", "a"])
        #expect(try self.stored("b").positionX == 7 && self.stored("a").rotation == 90)
        #expect(
            settlement.texts[0].hasPrefix(#"{"ok":true,"seq":5,"elements":[{"id":"b","type":"note","positionX":7,"#))
        // Geometry only, and what was adjusted names its element.
        #expect(!settlement.texts[0].contains("mine") && !settlement.texts[0].contains("createdBy"))
        #expect(
            settlement.texts[0].hasSuffix(
                #""adjusted":[{"elementId":"b","field":"positionX","sent":7.4,"stored":7,"why":"integer"}]}"#))
        // What other stages get and what is logged are whole elements.
        #expect(text(settlement.updates[0].elements[1].json).contains(#""mine":[1]"#))
        #expect(self.database.log.last?.element == nil)
    }

    @Test func oneFaultRefusesTheWholeGroup() throws {
        _ = self.run(5, update("b", #"{"locked":true}"#))
        _ = self.run(6, .delete(element: "p"))
        let refused: [(EncodedEdit, RefusalCode, String)] = [
            (self.move([("a", 1), ("x", 1)]), .notFound, "elements[1].elementId"),
            (self.move([("a", 1), ("p", 1)]), .gone, "elements[1].elementId"),
            (self.move([("a", 1), ("b", 1)]), .forbidden, "locked"),
            (EncodedEdit(DeleteElements(["a", "x"])), .notFound, "elementIds[1]"),
            (EncodedEdit(DeleteElements(["a", "b"])), .forbidden, "locked"),
            (EncodedEdit(GestureElements(["a", "x"], pivot: .zero, gesture: .turn(90))), .notFound, "elements[1]"),
            (EncodedEdit(DeleteElements([])), .invalid, "elementIds"),
            (EncodedEdit(TransformElements([])), .invalid, "elements"),
            (EncodedEdit(PresetElement(element: "x", preset: .flipX)), .notFound, "elementId"),
        ]
        for (index, (edit, code, field)) in refused.enumerated() {
            let settlement = self.run(UInt64(7 + index), edit)
            #expect(settlement.refusals[0]?.code == code && settlement.refusals[0]?.field == field)
            #expect(settlement.updates.isEmpty)
        }
        #expect(try self.stored("a").positionX == 10)
        #expect(self.database.tables[ElementKey("room", "a")]?.isDeleted == false)
    }

    @Test func aGroupIsDeletedWithItsAnnotationsUnderOneNumber() {
        let settlement = self.run(5, EncodedEdit(DeleteElements(["t", "p", "a"])))
        #expect(settlement.texts == [#"{"ok":true,"seq":5,"elementId":"t","elementIds":["t","p","a"]}"#])
        let cascade = self.run(6, create("q", #"{"type":"photo"}"#))
        #expect(cascade.refusals == [nil])
        self.bench.admit(commit(7, create("u", #"{"type":"text","parentId":"q"}"#)))
        self.bench.admit(commit(8, EncodedEdit(DeleteElements(["b", "q"]))))
        #expect(self.bench.run().texts.last == #"{"ok":true,"seq":8,"elementId":"b","elementIds":["b","q","u"]}"#)
    }

    @Test func aGestureIsFoldedOnWhatIsStored() throws {
        var gesture = Gesture.turn(30)
        gesture.translation = Point(x: 2.6, y: -1)
        (gesture.scaleX, gesture.scaleY) = (2, 2)
        _ = self.run(5, EncodedEdit(GestureElement(element: "a", gesture: gesture)))
        let settlement = self.run(6, EncodedEdit(GestureElement(element: "a", gesture: gesture)))
        #expect(settlement.updates.map(\.event) == [.transformed])
        let element = try self.stored("a")
        #expect(element.positionX == 16 && element.positionY == 18)
        #expect(element.rotation == 60 && element.scaleX == 4 && element.scaleY == 4)
        _ = self.run(7, EncodedEdit(GestureElement(element: "a", gesture: gesture)))
        #expect(self.run(8, EncodedEdit(GestureElement(element: "a", gesture: gesture))).texts[0].contains("range"))
    }

    @Test func anAnchorMovesNothingVisible() throws {
        _ = self.run(5, transform("a", rotation: 90))
        let corners = try self.stored("a").corners()
        var gesture = Gesture()
        gesture.anchor = .zero
        _ = self.run(6, EncodedEdit(GestureElement(element: "a", gesture: gesture)))
        let element = try self.stored("a")
        #expect(element.anchorX == 0 && element.anchorY == 0 && element.positionX == 60 && element.positionY == -30)
        for (before, after) in zip(corners, element.corners()) {
            #expect((before.x - after.x).magnitude < 1e-9 && (before.y - after.y).magnitude < 1e-9)
        }
    }

    /// The annotation is 100 × 100 pixels of a photo of 200 × 100: half of it is a quarter of the photo's width.
    @Test func anAnnotationsAnchorMovesByItsParentsPixels() throws {
        var gesture = Gesture()
        gesture.anchor = Point(x: 0, y: 0.5)
        let edit = EncodedEdit(GestureElement(element: "t", gesture: gesture))
        // A committer that knows nothing reads the annotation first, and then its parent.
        let other = self.bench.other()
        other.admit(commit(5, edit))
        #expect(other.run().refusals == [nil])
        #expect(try self.stored("t").positionX == 0.25)
    }

    @Test func aGroupsGestureTurnsAboutItsPivot() throws {
        let edit = EncodedEdit(GestureElements(["a", "b"], pivot: Point(x: 60, y: 20), gesture: .turn(90)))
        let settlement = self.run(5, edit)
        #expect(settlement.updates.map(\.event) == [.transformedMany])
        let (a, b) = (try self.stored("a"), try self.stored("b"))
        #expect(a.positionX == 60 && a.positionY == -30 && a.rotation == 90)
        #expect(b.positionX == 60 && b.positionY == 70 && b.rotation == 90)
        let refused = self.run(6, EncodedEdit(GestureElements(["a", "t"], pivot: .zero, gesture: .turn(1))))
        #expect(refused.refusals[0]?.code == .invalid && refused.refusals[0]?.field == "elements[1]")
    }

    @Test func presetsBuildOnWhatIsStored() throws {
        let presets: [Preset] = [.rotateCW, .rotateCW, .rotateCCW, .rotate180, .flipX, .flipY]
        for (index, preset) in presets.enumerated() {
            _ = self.run(UInt64(5 + index), EncodedEdit(PresetElement(element: "a", preset: preset)))
        }
        var element = try self.stored("a")
        #expect(element.rotation == 270 && element.scaleX == -1 && element.scaleY == -1)
        _ = self.run(11, EncodedEdit(PresetElement(element: "a", preset: .reset)))
        element = try self.stored("a")
        #expect(element.rotation == 0 && element.scaleX == 1 && element.scaleY == 1 && element.positionX == 10)
    }

    @Test func theGesturesOfAllElementsEnd() {
        var group = commit(5, self.move([("a", 1), ("b", 2)]))
        group.gestures = [EndedGesture(element: "a", gesture: 3), EndedGesture(element: "b", gesture: 3)]
        self.bench.admit(group)
        #expect(self.bench.run().updates[0].elements.map(\.gesture) == [3, 3])
    }

    @Test func aRepetitionGetsTheFirstResult() {
        let edits = [
            self.move([("a", 0.4), ("b", 3)]), EncodedEdit(GestureElement(element: "a", gesture: .turn(0.5))),
            EncodedEdit(GestureElements(["a", "b"], pivot: Point(x: 1, y: 1), gesture: .turn(45))),
            EncodedEdit(PresetElement(element: "p", preset: .rotateCW)), EncodedEdit(DeleteElements(["b", "p"])),
        ]
        for (index, edit) in edits.enumerated() { self.bench.admit(commit(UInt64(5 + index), edit)) }
        let first = self.bench.run()
        #expect(first.refusals == [nil, nil, nil, nil, nil])
        let other = self.bench.other()
        for (index, edit) in edits.enumerated() { other.admit(commit(UInt64(5 + index), edit)) }
        #expect(other.run().texts == first.texts.map { String($0.dropLast()) + #","duplicate":true}"# })
        other.admit(commit(5, self.move([("a", 0.4), ("b", 4)])))
        #expect(other.run().refusals[0]?.code == .conflict)
    }
}

extension Gesture {
    fileprivate static func turn(_ degrees: Double) -> Gesture {
        var gesture = Gesture()
        gesture.rotation = degrees
        return gesture
    }
}
