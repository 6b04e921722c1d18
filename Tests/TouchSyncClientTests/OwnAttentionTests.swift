import Canvas
import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// This user's cursor, selection and viewport, without the room around them.
@Suite struct OwnAttentionTests {
    private var outbox = ClientOutbox()
    private var attention = OwnAttention(in: RoomAddress(id: TextKey("demo"), serial: 7))

    init() {
        self.outbox.begin(at: 1000)
        self.outbox.connectionAccepted()
    }

    @Test mutating func waitsForTheRoom() {
        self.point(1)
        self.attention.selected(["a"], &self.outbox)
        #expect(self.outbox.drain().isEmpty)
        self.attention.joined(interval: 16, &self.outbox)
        let selection = #"420["selection:set",{"roomId":"demo","elementIds":["a"]}]"#
        #expect(self.outbox.drain() == [Self.cursor("1"), .send(selection)])
        self.attention.joinBegan()
        self.attention.selected([], &self.outbox)
        #expect(self.outbox.drain().isEmpty)
    }

    @Test mutating func onlyTheLatestCursorOfAnIntervalIsSent() {
        self.attention.joined(interval: 16, &self.outbox)
        for x in [1, 2, 3] { self.point(x) }
        #expect(self.outbox.drain() == [Self.cursor("1")])
        #expect(self.attention.deadline == 1016)
        self.outbox.begin(at: 1016)
        self.attention.timeReached(interval: 16, &self.outbox)
        #expect(self.outbox.drain() == [Self.cursor("3")])
        #expect(self.attention.deadline == nil)
    }

    @Test mutating func thatThereIsNoCursorIsSaidIfThereWasOne() {
        self.attention.joined(interval: 0, &self.outbox)
        self.attention.pointed(Point(x: 1, y: 0), interval: 0, &self.outbox)
        self.attention.joinBegan()
        self.attention.pointed(nil, interval: 0, &self.outbox)
        _ = self.outbox.drain()
        self.attention.joined(interval: 0, &self.outbox)
        #expect(self.outbox.drain() == [Self.cursor("null")])
        self.attention.connectionLost()
        self.attention.joined(interval: 0, &self.outbox)
        #expect(self.outbox.drain().isEmpty, "nobody of this connection saw one")
    }

    @Test mutating func refusedViewportIsSentAgainLater() throws {
        self.attention.joined(interval: 16, &self.outbox)
        self.attention.looked(Rect(x: 0, y: 0, width: 5, height: 5), interval: 16, &self.outbox)
        let text = #"{"ok":false,"error":{"code":"rate_limited","retryAfterMs":300}}"#
        let refusal = try #require(JSONObject(text: Array(text.utf8)))
        self.attention.viewportAnswered(refusal, self.outbox)
        #expect(self.attention.deadline == 1300)
    }

    private mutating func point(_ x: Int) {
        self.attention.pointed(Point(x: Double(x), y: 0), interval: 16, &self.outbox)
    }

    private static func cursor(_ x: String) -> ClientOutput {
        .send(#"42["cursor:moving",{"roomId":"demo","x":\#(x),"y":\#(x == "null" ? x : "0")}]"#)
    }
}
