import Canvas
import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// This user's cursor, selection and viewport, without the room around them.
@Suite struct OwnAwarenessTests {
    private var outbox = ClientOutbox()
    private var awareness = OwnAwareness(in: RoomAddress(id: TextKey("demo"), serial: 7))

    init() {
        self.outbox.begin(at: 1000)
        self.outbox.connectionAccepted()
    }

    @Test mutating func waitsForTheRoom() {
        self.point(1)
        self.awareness.selected(["a"], &self.outbox)
        #expect(self.outbox.drain().isEmpty)
        self.awareness.joined(interval: 16, &self.outbox)
        let selection = #"420["selection:set",{"roomId":"demo","elementIds":["a"]}]"#
        #expect(self.outbox.drain() == [Self.cursor("1"), .send(selection)])
        self.awareness.joinBegan()
        self.awareness.selected([], &self.outbox)
        #expect(self.outbox.drain().isEmpty)
    }

    @Test mutating func onlyTheLatestCursorOfAnIntervalIsSent() {
        self.awareness.joined(interval: 16, &self.outbox)
        for x in [1, 2, 3] { self.point(x) }
        #expect(self.outbox.drain() == [Self.cursor("1")])
        #expect(self.awareness.deadline == 1016)
        self.outbox.begin(at: 1016)
        self.awareness.timeReached(interval: 16, &self.outbox)
        #expect(self.outbox.drain() == [Self.cursor("3")])
        #expect(self.awareness.deadline == nil)
    }

    @Test mutating func thatThereIsNoCursorIsSaidIfThereWasOne() {
        self.awareness.joined(interval: 0, &self.outbox)
        self.awareness.pointed(Point(x: 1, y: 0), interval: 0, &self.outbox)
        self.awareness.joinBegan()
        self.awareness.pointed(nil, interval: 0, &self.outbox)
        _ = self.outbox.drain()
        self.awareness.joined(interval: 0, &self.outbox)
        #expect(self.outbox.drain() == [Self.cursor("null")])
        self.awareness.connectionLost()
        self.awareness.joined(interval: 0, &self.outbox)
        #expect(self.outbox.drain().isEmpty, "nobody of this connection saw one")
    }

    @Test mutating func refusedViewportIsSentAgainLater() throws {
        self.awareness.joined(interval: 16, &self.outbox)
        self.awareness.looked(Rect(x: 0, y: 0, width: 5, height: 5), interval: 16, &self.outbox)
        let text = #"{"code":"rate_limited","retryAfterMs":300}"#
        let refusal = ClientError(try #require(JSONObject(text: Array(text.utf8))))
        self.awareness.refused(refusal, isViewport: true, &self.outbox)
        #expect(self.awareness.deadline == 1300)
    }

    @Test mutating func theLatestStateIsSentAgainAfterEachJoin() {
        self.awareness.presented(#"{"n":1}"#, interval: 16, &self.outbox)
        #expect(self.outbox.drain().isEmpty)
        self.awareness.joined(interval: 16, &self.outbox)
        self.awareness.presented(#"{"n":2}"#, interval: 16, &self.outbox)
        let sent = (1...2).map { #"["presence:set",{"roomId":"demo","state":{"n":\#($0)}}]"# }
        #expect(self.outbox.drain() == [.send("420" + sent[0])])
        self.awareness.connectionLost()
        self.awareness.joined(interval: 16, &self.outbox)
        #expect(self.outbox.drain() == [.send("421" + sent[1])])
    }

    private mutating func point(_ x: Int) {
        self.awareness.pointed(Point(x: Double(x), y: 0), interval: 16, &self.outbox)
    }

    private static func cursor(_ x: String) -> ClientOutput {
        .send(#"42["cursor:moving",{"roomId":"demo","x":\#(x),"y":\#(x == "null" ? x : "0")}]"#)
    }
}
