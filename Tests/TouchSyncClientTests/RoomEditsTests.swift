import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// This user's edits in a room, without the room around them.
@Suite struct RoomEditsTests {
    private var contents = RoomContents()
    private var outbox = ClientOutbox()
    private var edits = RoomEdits(of: RoomAddress(id: TextKey("demo"), serial: 7), capacity: 2, record: nil)

    init() {
        self.outbox.begin(at: 1000)
        self.outbox.connectionAccepted()
    }

    @Test mutating func editsWaitForTheRoomAndGoInTheirOrder() {
        self.delete("a", as: "1")
        self.delete("b", as: "2")
        #expect(self.outbox.drain().isEmpty)
        #expect(self.join() == true)
        #expect(
            self.outbox.drain() == [
                .send(#"420["element:delete",{"roomId":"demo","elementId":"a","n":1}]"#),
                .send(#"421["element:delete",{"roomId":"demo","elementId":"b","n":2}]"#),
            ])
        #expect(self.edits.openCount == 2)
    }

    @Test mutating func fullQueueRefusesTheNextEdit() {
        for id in ["a", "b", "c"] { self.delete(id, as: id) }
        #expect(self.results() == ["c": "queue_full"])
    }

    @Test mutating func editThatIsTooLargeIsNotSent() {
        _ = self.join(limits: #"{"message":280,"unacknowledged":32}"#)
        self.delete("a", as: "1")
        #expect(self.results() == ["1": "too_large"])
    }

    @Test mutating func whatWasSentIsForgottenWhenItIsTooLargeNow() {
        _ = self.join(limits: #"{"message":1000,"unacknowledged":1}"#)
        self.delete("a", as: "1")
        self.delete("b", as: "2")
        _ = self.outbox.drain()
        self.edits.connectionLost()
        _ = self.edits.joinAccepted(Self.object(#"{"session":"s","sid":"i","limits":{"message":280}}"#), last: 0)
        self.edits.refuseTooLarge(&self.contents, &self.outbox)
        #expect(self.results() == ["1": "forgotten", "2": "too_large"])
        self.edits.joined(self.contents, &self.outbox)
        #expect(self.outbox.drain() == [.send(#"421["element:update",{"roomId":"demo","n":1}]"#)])
    }

    @Test mutating func refusedForNowItIsSentAgainAfterThePause() {
        _ = self.join()
        self.delete("a", as: "1")
        #expect(self.answer(1, attempt: 1, #"{"ok":false,"error":{"code":"busy","retryAfterMs":200}}"#) == .lives)
        #expect(self.edits.deadline == 1200)
        _ = self.outbox.drain()
        self.outbox.begin(at: 1200)
        self.edits.timeReached(self.contents, &self.outbox)
        #expect(self.outbox.drain() == [.send(#"421["element:delete",{"roomId":"demo","elementId":"a","n":1}]"#)])
        #expect(self.edits.deadline == nil)
    }

    @Test mutating func answersSayWhatBecomesOfTheSession() {
        _ = self.join()
        self.delete("a", as: "1")
        let expired = #"{"ok":false,"error":{"code":"session_expired"}}"#
        #expect(self.answer(1, attempt: 1, session: "another", expired) == .lives, "another sending of the edit")
        #expect(self.answer(1, attempt: 2, expired) == .lives, "not its latest sending")
        #expect(self.answer(1, attempt: 1, #"{"ok":false,"error":{"code":"gap","expected":0}}"#) == .lost)
        #expect(self.answer(1, attempt: 1, expired) == .expired)
        #expect(self.answer(1, attempt: 1, expired) == .lives, "it is not under way any more")
    }

    @Test mutating func whatTheServerForgotIsLookedUpInTheHistory() throws {
        _ = self.join()
        self.delete("a", as: "1")
        self.delete("b", as: "2")
        self.edits.loseSession(&self.contents)
        #expect(self.join(session: "t") == true)
        #expect(self.outbox.drain().last == .room("demo", .readHistory(after: 0)))
        let page = #"{"entries":[{"seq":4,"sid":"i","n":1,"changes":[]}],"oldest":1}"#
        let excerpt = try #require(JSONObject(text: Array(page.utf8)).flatMap { HistoryExcerpt(json: $0.value) })
        self.edits.historyRead(after: 0, excerpt, &self.contents, &self.outbox)
        let outputs = self.outbox.drain()
        #expect(outputs.first.flatMap(Self.result) ?? ("", "") == ("1", ""), "found")
        #expect(outputs.last == .send(#"422["element:delete",{"roomId":"demo","elementId":"b","n":1}]"#), "not found")
    }

    @Test mutating func sessionWhoseNumbersLieBehindIsNotContinued() {
        _ = self.join()
        self.delete("a", as: "1")
        _ = self.answer(1, attempt: 1, #"{"ok":true,"seq":9}"#)
        #expect(self.join(last: 1) == true)
        #expect(self.join(last: 0) == false)
    }

    @Test mutating func acknowledgedEditIsKeptUntilTheStreamShowsIt() {
        _ = self.join()
        self.delete("a", as: "1")
        _ = self.contents.takeTouched()
        #expect(self.edits.streamed(Self.object(#"{"sid":"other","n":1}"#)).isEmpty)
        #expect(self.edits.streamed(Self.object(#"{"sid":"i","n":1}"#)) == [TextKey("a")])
        _ = self.answer(1, attempt: 1, #"{"ok":true,"seq":1}"#)
        #expect(self.edits.openCount == 0)
        _ = self.contents.takeTouched()
        _ = self.contents.apply("element:deleted", Self.object(#"{"elementIds":["a"]}"#), seq: 1)
        self.edits.settle(&self.contents)
        #expect(self.contents.takeTouched() == [TextKey("a")])
    }

    @Test mutating func acknowledgedEditIsNotKeptUnderAnotherEpoch() {
        self.arrive(epoch: "one", seq: 1)
        _ = self.join()
        self.delete("a", as: "1")
        _ = self.answer(1, attempt: 1, #"{"ok":true,"seq":9}"#)
        self.arrive(epoch: "one", seq: 2)
        #expect(!self.isShown("a"))
        self.contents.forgetPosition()
        self.arrive(epoch: "one", seq: 3)
        #expect(!self.isShown("a"), "the same history")
        self.arrive(epoch: "two", seq: 2)
        #expect(self.isShown("a"))
    }

    @Test mutating func whatWasSentIsForgottenWhenTheRoomIsGivenUp() {
        _ = self.join(limits: #"{"message":262144,"unacknowledged":1}"#)
        self.delete("a", as: "1")
        self.delete("b", as: "2")
        self.edits.giveUp(ClientError(code: .forbidden, message: "no"), &self.contents, &self.outbox)
        #expect(self.results() == ["1": "forgotten", "2": "forbidden"])
    }

    @Test mutating func editOfAnOldNumberIsForgotten() {
        _ = self.join()
        self.delete("a", as: "1")
        self.delete("b", as: "2")
        _ = self.answer(1, attempt: 1, #"{"ok":false,"error":{"code":"conflict","field":"n"}}"#)
        _ = self.answer(2, attempt: 1, #"{"ok":false,"error":{"code":"conflict","field":"elementId"}}"#)
        #expect(self.results() == ["1": "forgotten", "2": "conflict"])
    }

    // MARK: Short forms

    /// A whole room, with one element.
    private mutating func arrive(epoch: String, seq: Int) {
        let answer = #"{"epoch":"\#(epoch)","seq":\#(seq),"elements":[{"id":"a","type":"note"}]}"#
        self.contents.began(RoomArrival(answer: Self.object(answer), sessionNumber: 0))
        self.contents.replaced()
        self.edits.stored(upTo: 0, &self.contents)
    }

    private func isShown(_ id: String) -> Bool {
        let key = TextKey(id)
        return self.edits.applied(to: self.contents.confirmed[key], id: key, in: self.contents) != nil
    }

    private mutating func delete(_ element: String, as id: String) {
        let body = JSONObject { $0.member("elementId", element) }
        let edit = ClientEdit(ids: [id], event: "element:delete", body: body)
        self.edits.edit(edit, &self.contents, &self.outbox)
    }

    private mutating func join(session: String = "s", last: Int64 = 0, limits: String = "{}") -> Bool {
        let answer = Self.object(#"{"session":"\#(session)","sid":"i","limits":\#(limits)}"#)
        guard self.edits.joinAccepted(answer, last: last) else { return false }
        self.edits.joined(self.contents, &self.outbox)
        return true
    }

    private mutating func answer(
        _ key: Int, attempt: Int, session: String = "s", _ answer: String
    ) -> RoomEdits.SessionVerdict {
        self.edits.answered(
            key, attempt: attempt, session: session, Self.object(answer), &self.contents, &self.outbox)
    }

    /// The codes of the results that the app gets; empty for what was applied.
    private mutating func results() -> [String: String] {
        Dictionary(uniqueKeysWithValues: self.outbox.drain().compactMap(Self.result))
    }

    private static func result(_ output: ClientOutput) -> (String, String)? {
        guard case .room("demo", .result(let id, let answer)) = output else { return nil }
        return (id, answer.error?.code.rawValue ?? "")
    }

    private static func object(_ text: String) -> JSONObject { JSONObject(text: Array(text.utf8)) ?? .empty }
}
