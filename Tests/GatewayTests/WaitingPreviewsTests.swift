import Canvas
import Testing
import Wire

@testable import GatewayCore

@Suite("Previews that wait")
struct WaitingPreviewsTests {
    private func preview(
        _ element: Identifier, room: Identifier = "r", by connection: UInt64 = 1, gesture: UInt64 = 1, x: Double,
        sinceLast: UInt32 = 16
    ) -> Preview {
        Preview(
            room: room, element: element, connection: connection, user: "u", sid: "s", gesture: gesture, folded: 1,
            sinceLast: sinceLast, fields: TransformFields(positionX: x))
    }

    @Test("those that piled up are folded, the latest wins, and each room stands together")
    func folded() {
        let folded = PreviewOutbox.folded([
            self.preview("a", x: 1), self.preview("b", room: "q", x: 2), self.preview("c", x: 3),
            self.preview("a", x: 4), self.preview("b", room: "q", x: 5), self.preview("a", by: 2, x: 6),
        ])
        #expect(folded.map(\.room) == ["r", "r", "r", "q"])
        #expect(folded.map(\.fields.positionX) == [4, 3, 6, 5])
        #expect(folded.map(\.folded) == [2, 1, 1, 2])
        // The time since the one before that was shown.
        #expect(folded.map(\.sinceLast) == [32, 16, 16, 32])
        #expect(PreviewOutbox.folded([]).isEmpty)
    }

    @Test("a step of the stream drops the previews whose gesture ended with it, and no others")
    func ended() {
        var outbox = PreviewOutbox()
        outbox.add(self.preview("a", gesture: 3, x: 1))
        outbox.add(self.preview("b", gesture: 3, x: 2))
        outbox.add(self.preview("a", room: "q", gesture: 3, x: 3))
        outbox.add(self.preview("a", by: 2, gesture: 4, x: 4))
        var update = update(9, ids: ["a"])
        update.elements[0].gesture = 3
        outbox.drop(endedBy: StreamStep(update, isNumbered: true))
        // What stays has moved up; the next of it is folded onto it there.
        outbox.add(self.preview("a", room: "q", gesture: 3, x: 5))
        #expect(outbox.take().map(\.fields.positionX) == [2, 5, 4])
        #expect(outbox.isEmpty)
    }

    @Test("a deletion drops everybody's, the end of a gesture only its own")
    func deleted() {
        var outbox = PreviewOutbox()
        outbox.add(self.preview("a", gesture: 7, x: 1))
        outbox.add(self.preview("b", gesture: 7, x: 2))
        outbox.drop(endedBy: StreamStep(update(9, event: .deleted, ids: ["a"]), isNumbered: true))
        outbox.drop(
            endedBy: StreamStep(GestureEnd(room: "r", element: "b", user: "u", sid: "other", gesture: 7)))
        #expect(outbox.take().map(\.fields.positionX) == [2])
        outbox.add(self.preview("b", gesture: 7, x: 3))
        outbox.drop(endedBy: StreamStep(GestureEnd(room: "r", element: "b", user: "u", sid: "s", gesture: 7)))
        #expect(outbox.isEmpty)
        // What was dropped may come again, with the next gesture.
        outbox.add(self.preview("b", gesture: 8, x: 4))
        #expect(outbox.take().map(\.fields.positionX) == [4])
    }
}
