import Canvas
import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// What fingers do in a room, and what others see of it, without the room around them.
@Suite struct OwnGesturesTests {
    private var contents = RoomContents()
    private var outbox = ClientOutbox()
    private var gestures = OwnGestures(in: RoomAddress(id: TextKey("demo"), serial: 7))

    init() {
        self.outbox.begin(at: 1000)
        self.outbox.connectionAccepted()
        for (id, x) in [("a", 100.0), ("b", 300.0)] {
            var note = Element(id: id, type: "note", createdBy: "ada")
            note.positionX = x
            self.contents.shown[TextKey(id)] = note
        }
    }

    @Test mutating func othersSeeAGestureOnceTheRoomIsJoined() {
        self.begin(["a"])
        self.turn(10)
        #expect(self.outbox.drain().isEmpty && self.gestures.deadline == nil)
        self.gestures.isOpen = true
        self.turn(20)
        #expect(self.outbox.drain() == [Self.preview(20)])
    }

    @Test mutating func onlyTheLatestMovementOfAnIntervalIsSentAndRepeatedWhileTheFingersRest() {
        self.gestures.isOpen = true
        self.begin(["a"])
        for degrees in [1, 2, 3] { self.turn(degrees) }
        #expect(self.outbox.drain() == [Self.preview(1)])
        for time: Int64 in [1016, 2016] {
            #expect(self.gestures.deadline == time)
            self.outbox.begin(at: time)
            self.gestures.timeReached(interval: 16, &self.outbox)
            #expect(self.outbox.drain() == [Self.preview(3)])
        }
    }

    @Test mutating func aCancelledGestureIsTakenBackFromThoseWhoSawIt() {
        self.gestures.isOpen = true
        self.begin(["a"])
        #expect(self.gestures.cancel("g", &self.outbox) == [TextKey("a")])
        #expect(self.outbox.drain().isEmpty, "nobody saw it")
        self.begin(["a"])
        self.turn(10)
        _ = self.outbox.drain()
        _ = self.gestures.cancel("g", &self.outbox)
        let still = #""translation":{"x":0,"y":0},"scale":1,"rotation":0"#
        #expect(
            self.outbox.drain() == [
                .send(#"42["element:gesturing",{"roomId":"demo","elementId":"a",\#(still),"gesture":2}]"#)
            ])
        #expect(self.gestures.cancel("g", &self.outbox) == nil)
    }

    @Test mutating func aGroupTurnsAboutItsMiddle() {
        self.begin(["a", "b"])
        #expect(self.lift()?.pivot?.x == 200)
    }

    @Test mutating func fingersThatDidNotMoveStoreNothing() {
        self.begin(["a"])
        #expect(self.lift()?.edit(id: "1", throwing: GestureThrow(), in: self.contents, at: 1000) == nil)
        self.begin(["a"])
        self.turn(10)
        let turned = self.lift()
        let edit = turned?.edit(id: "1", throwing: GestureThrow(), in: self.contents, at: 1000)
        #expect(edit?.event == "element:gesture", "too slow to be thrown")
        let thrown = turned?.edit(
            id: "1", throwing: GestureThrow(velocity: Point(x: 900, y: 0)), in: self.contents, at: 1000)
        #expect(thrown?.event == "element:throw")
    }

    // MARK: Short forms

    private mutating func begin(_ ids: [String]) {
        self.gestures.begin("g", ids.map(TextKey.init), pivot: nil, in: self.contents, at: self.outbox.now)
    }

    private mutating func lift() -> OwnGesture? { self.gestures.lift("g") }

    private mutating func turn(_ degrees: Int) {
        var fields = GestureFields()
        fields.rotation = Double(degrees)
        _ = self.gestures.move("g", fields, at: self.outbox.now)
        self.gestures.offer("g", interval: 16, &self.outbox)
    }

    private static func preview(_ degrees: Int) -> ClientOutput {
        .send(#"42["element:gesturing",{"roomId":"demo","elementId":"a","rotation":\#(degrees),"gesture":1}]"#)
    }
}
