import Canvas
import GatewayCore
import Testing
import Wire

@testable import GatewayDaemon

/// What waits for an app that cannot take it yet.
@Suite struct HeldPreviewsTests {
    private static func text(
        _ x: Double, of element: Identifier = "e", in room: Identifier = "r", sender: Slot? = nil
    ) -> PreviewText {
        PreviewText(
            sender: sender,
            preview: Preview(
                room: room, element: element, connection: 1, user: "ada", sid: "s", gesture: 1,
                fields: TransformFields(positionX: x)))
    }

    @Test func whatIsPutBackIsFoldedWithWhatComesLater() {
        var held = HeldPreviews()
        #expect(held.isEmpty)
        held.add([Self.text(1), Self.text(2, of: "f"), Self.text(3, of: "g")], butOf: nil)
        var waiting = held.takeAll()
        #expect(held.isEmpty && waiting.previews.count == 3)
        let sent = PreviewText.takeTexts(from: &waiting, bytes: 1)
        #expect(sent.flatMap(\.previews).map(\.element) == ["e"])
        held.add(waiting)
        // A publisher gets nothing of its own.
        held.add([Self.text(4, of: "f", sender: 7), Self.text(5, of: "g", sender: 8)], butOf: 7)
        let rest = held.takeAll().previews
        #expect(rest.map(\.element) == ["f", "g"] && rest.map(\.fields.positionX) == [2, 5])
        #expect(rest.map(\.folded) == [1, 2])
    }

    @Test func whatHasEndedOrIsOfARoomThatWasLeftIsGone() {
        var held = HeldPreviews()
        held.add([Self.text(1), Self.text(2, of: "f"), Self.text(3, in: "q")], butOf: nil)
        held.remove([EndedPreviews(room: "r", element: "e", sid: "s", gesture: 1)])
        held.drop("q")
        #expect(!held.isEmpty)
        let rest = held.takeAll().previews
        #expect(rest.map(\.element) == ["f"])
        held.add([Self.text(3, in: "q")], butOf: nil)
        held.drop("q")
        #expect(held.isEmpty)
    }

    /// The last one of a part takes the place of those before it, but what hides that of a session stays.
    @Test func theLatestAwarenessOfEachPartWaits() {
        func shown(_ value: AwarenessValue, in room: Identifier = "r", sid: Identifier = "s") -> PreviewText {
            PreviewText(sender: nil, awareness: Awareness(room: room, connection: 1, user: "u", sid: sid, value: value))
        }
        var held = HeldPreviews()
        held.add(
            [
                shown(.cursor(Point(x: 1, y: 1))), shown(.selection(["e"])), shown(.cursor(nil)),
                shown(.cursor(Point(x: 2, y: 2)), sid: "t"), shown(.cursor(nil), in: "q"),
            ], butOf: nil)
        #expect(held.bytes > 0)
        held.drop("q")
        var rest = held.takeAll()
        #expect(rest.awareness.map(\.value) == [.selection(["e"]), .cursor(nil), .cursor(Point(x: 2, y: 2))])
        #expect(PreviewText.takeTexts(from: &rest, bytes: 1).count == 1 && rest.awareness.count == 2)
        #expect(PreviewText.takeTexts(from: &rest, bytes: 1000).count == 2 && rest.isEmpty)
        #expect(held.isEmpty && held.bytes == 0)
    }

    @Test func whatWaitsIsCountedUntilItIsGone() {
        var held = HeldPreviews()
        #expect(held.bytes == 0)
        for _ in 0..<2 {
            for index in 0..<5000 { held.add([Self.text(1, of: Identifier("e\(index)"))], butOf: nil) }
            // 4096 of them, once.
            #expect((4096 * MemoryLayout<Preview>.stride..<8 << 20).contains(held.bytes))
        }
        // What is removed one by one leaves its space behind.
        held.remove([EndedPreviews(room: "r", element: "e0", sid: "s", gesture: 1)])
        #expect(held.bytes >= 4096 * MemoryLayout<Preview>.stride)
        held.drop("r")
        #expect(held.bytes == 0)
        held.add([Self.text(1)], butOf: nil)
        #expect((1..<8192).contains(held.bytes))
        held.remove([EndedPreviews(room: "r", element: "e", sid: "s", gesture: 1)])
        #expect(held.bytes == 0)
        held.add([Self.text(1)], butOf: nil)
        _ = held.takeAll()
        #expect(held.bytes == 0)
    }
}
