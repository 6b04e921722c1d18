import Canvas
import JSONBytes

/// This user's edits in a room, from the app's wish until the room's stream shows them, and the session that numbers
/// them.
///
///     waiting ──► under way ──► acknowledged ──► shown by the stream
///        ▲            ├───────► refused: not shown any more
///        └────────────┴───────► in doubt: the session ended ──► found in the room's history, or waiting again
struct RoomEdits: Sendable {
    private let address: RoomAddress
    private(set) var session: RoomSession
    private var queue: EditQueue
    private var search = DoubtSearch()
    private var saving: RoomSaving
    private var allowance = RoomAllowance()
    /// Before what the server refused for now is asked again: edits, pages of the history, and joins of the room.
    var pause = RetryPause()
    var reach = UndoReach()
    /// What a repeated undo leaves out.
    private var blocked: BlockedStep?
    /// Until when no edit is sent, because the server asked for a pause, ms.
    private var resumeAt: Int64?
    /// Whether edits may be sent: the room is joined.
    private var isOpen = false
    /// The epoch of the last whole room: the history in which edits were acknowledged.
    private var epoch: TextKey?

    init(of address: RoomAddress, capacity: Int, record: RoomRecord?) {
        self.address = address
        self.session = RoomSession(secret: record?.session, sid: TextKey(record?.sid ?? ""))
        self.queue = EditQueue(
            capacity: capacity, nextNumber: record?.nextNumber ?? 1, edits: record?.edits.map(\.edit) ?? [])
        self.saving = RoomSaving(isSaved: record != nil, self.queue)
    }

    var openCount: Int { self.queue.openCount }

    var deadline: Int64? { earliest(self.search.retryAt, self.resumeAt) }

    mutating func timeReached(_ contents: RoomContents, _ outbox: inout ClientOutbox) {
        if let searchAt = self.search.retryAt, outbox.now >= searchAt { self.searchHistory(&outbox) }
        if let resumeAt, outbox.now >= resumeAt {
            self.resumeAt = nil
            self.pump(contents, &outbox)
        }
    }

    /// Whether an edit that waits moves an element: it is drawn where it was until the server says from when on.
    func areMoving(_ id: TextKey) -> Bool { self.queue.edits(of: id).contains { $0.isShown && $0.isMoving } }

    /// An element with these edits on top; nil: there is none.
    /// - Parameter isWaiting: without those that move it.
    func applied(to element: Element?, id: TextKey, in contents: RoomContents, isWaiting: Bool = false) -> Element? {
        var element = element
        for edit in self.queue.edits(of: id) where edit.isShown && !(isWaiting && edit.isMoving) {
            element = edit.applied(to: element, id: id, in: contents.scene(of: element))
        }
        return element
    }

    func touchAll(_ contents: inout RoomContents) {
        for edit in self.queue.edits { contents.touch(edit.elementIds) }
    }

    /// Has the shell keep what changed, for the next run of the app.
    mutating func save(lastGesture: Int64, _ outbox: inout ClientOutbox) {
        guard self.saving.isDirty else { return }
        let record = RoomRecord(session: self.session, queue: self.queue, lastGesture: lastGesture)
        if let save = self.saving.due(record, self.queue) { self.address.tell(save, &outbox) }
    }
}

// MARK: - The session

extension RoomEdits {
    /// The server accepted a join, with a session and its last number.
    /// - Returns: false when the room must be joined under another session.
    mutating func joinAccepted(_ answer: JSONObject, last: Int64) -> Bool {
        self.allowance = RoomAllowance(JSONObject(answer["limits"]))
        let session = answer["session"]?.string
        if !self.session.isSame(session) {
            self.queue.sessionLost(sid: self.session.sid)
        } else if self.queue.firstNumber > last.plus(1) {
            // The server's numbers of this session lie behind: what was acknowledged was lost with its database.
            return false
        }
        self.queue.continued(after: last)
        self.session = RoomSession(secret: session, sid: TextKey(answer["sid"]?.string ?? ""))
        self.saving.changed()
        return true
    }

    /// Edits were made before the server's limit was known: one that is larger would end the connection each time. What
    /// was sent under a larger limit may be stored; in doubt, the history says whether it is.
    mutating func refuseTooLarge(_ contents: inout RoomContents, _ outbox: inout ClientOutbox) {
        for edit in self.queue.open where edit.doubt == nil && !self.allowance.allows(edit) {
            if edit.number != nil { self.queue.fill(edit.key) }
            let error = edit.number == nil ? ClientError.tooLarge(limit: self.allowance.message) : .forgotten
            self.takeBack(edit, error, &contents, &outbox)
        }
    }

    /// The room is joined: what became of edits in doubt is looked up, then the others are sent.
    mutating func joined(_ contents: RoomContents, _ outbox: inout ClientOutbox) {
        self.isOpen = true
        self.pause.reset()
        if self.queue.hasDoubts { return self.searchHistory(&outbox) }
        self.search = DoubtSearch()
        self.pump(contents, &outbox)
    }

    mutating func joinBegan() {
        self.isOpen = false
    }

    mutating func connectionLost() {
        self.isOpen = false
        self.resumeAt = nil
        self.search = DoubtSearch()
        self.queue.resendAll()
    }

    /// The session ended: whether its last edits were applied is known to the room's history alone.
    mutating func loseSession(_ contents: inout RoomContents) {
        self.queue.sessionLost(sid: self.session.sid)
        self.session.secret = nil
        self.saving.changed()
        self.touchAll(&contents)
    }
}

// MARK: - Sending

extension RoomEdits {
    /// The app edits: shown immediately, sent as soon as it may be.
    mutating func edit(_ edit: ClientEdit, _ contents: inout RoomContents, _ outbox: inout ClientOutbox) {
        var edit = edit
        if let body = self.blocked?.passed(by: edit.event, edit.body) { edit.body = body }
        self.blocked = nil
        if edit.isDeletion { edit.elementIds += contents.annotations(of: edit.elementIds) }
        guard self.allowance.allows(edit) else {
            return self.report(edit, EditAnswer(refusal: .tooLarge(limit: self.allowance.message)), &outbox)
        }
        guard self.queue.append(edit) else {
            return self.report(edit, EditAnswer(refusal: .queueFull), &outbox)
        }
        self.saving.changed()
        contents.touch(edit.elementIds)
        self.pump(contents, &outbox)
    }

    private mutating func pump(_ contents: RoomContents, _ outbox: inout ClientOutbox) {
        guard self.isOpen, !self.queue.hasDoubts, self.resumeAt == nil else { return }
        while let edit = self.queue.next(limit: self.allowance.unacknowledged, seq: contents.seq) {
            self.saving.changed()
            let subject = RequestSubject.edit(
                room: self.address.serial, key: edit.key, attempt: edit.attempt, session: self.session.secret)
            self.address.ask(edit.event, about: subject, &outbox) { writer in
                edit.body.encodeMembers(into: &writer, except: ["roomId", "n"])
                writer.member("n", ifPresent: edit.number)
            }
        }
    }
}

// MARK: - Results

extension RoomEdits {
    /// What the answer to an edit means for the room's session.
    enum SessionVerdict: Sendable {
        /// It goes on.
        case lives
        /// The room must be joined again to go on with it.
        case expired
        /// The server does not know it any more.
        case lost
    }

    /// The answer to an edit that was sent for the `attempt`th time, under a session.
    mutating func answered(
        _ key: Int, attempt: Int, session: String?, _ answer: JSONObject, _ contents: inout RoomContents,
        _ outbox: inout ClientOutbox
    ) -> SessionVerdict {
        // What an ended session still says is about another sending of the edit.
        guard self.session.isSame(session), let edit = self.queue.openEdit(key) else { return .lives }
        let answer = EditAnswer(answer)
        guard let error = answer.error else {
            self.acknowledged(edit, answer, &contents, &outbox)
            return .lives
        }
        switch error.code {
        case .gap, .sessionExpired: break
        case _ where error.isRetryable: break
        default:
            self.refusedForGood(edit, error, &contents, &outbox)
            return .lives
        }
        // It was sent again since.
        guard attempt == edit.attempt, edit.isUnderWay else { return .lives }
        return self.refusedForNow(edit, error, contents, &outbox)
    }

    private mutating func acknowledged(
        _ edit: ClientEdit, _ answer: EditAnswer, _ contents: inout RoomContents, _ outbox: inout ClientOutbox
    ) {
        let seq = answer.seq ?? 0
        self.queue.acknowledge(edit.key, seq: seq)
        self.saving.changed()
        self.pause.reset()
        if edit.event.hasPrefix("history:"), answer.foundNothing {
            self.reach.foundNothing(by: edit.event)
            self.address.tell(.changed([]), &outbox)
        }
        self.report(edit, answer, &outbox)
        // In doubt it was not shown; nor if a whole room, older than its answer said, seemed to contain it.
        if !edit.isShown { contents.touch(edit.elementIds) }
        // Until the room's stream reaches it, the edit stays on top, or the element would jump back for a moment.
        if seq <= contents.seq { self.settle(&contents) }
        self.pump(contents, &outbox)
    }

    private mutating func refusedForGood(
        _ edit: ClientEdit, _ error: ClientError, _ contents: inout RoomContents, _ outbox: inout ClientOutbox
    ) {
        if error.code == .unknownEvent { self.queue.fill(edit.key) }
        self.takeBack(edit, error.isAboutOldNumber ? .forgotten : error, &contents, &outbox)
        self.pump(contents, &outbox)
    }

    private mutating func refusedForNow(
        _ edit: ClientEdit, _ error: ClientError, _ contents: RoomContents, _ outbox: inout ClientOutbox
    ) -> SessionVerdict {
        if error.code == .gap {
            guard let expected = error.details["expected"]?.integer, expected >= self.queue.firstNumber else {
                return .lost
            }
            self.queue.resend(from: expected)
            self.pump(contents, &outbox)
            return .lives
        }
        self.queue.resend(from: edit.number ?? 0)
        if error.code == .sessionExpired { return self.isOpen ? .expired : .lives }
        self.resumeAt = outbox.now.plus(self.pause.next(asked: error.retryAfter))
        return .lives
    }

    /// Refused for good: it is not shown any more.
    private mutating func takeBack(
        _ edit: ClientEdit, _ error: ClientError, _ contents: inout RoomContents, _ outbox: inout ClientOutbox
    ) {
        // Unless something was edited since.
        if let entry = error.entry, self.queue.lastKey == edit.key {
            self.blocked = BlockedStep(event: edit.event, seq: entry.seq)
        }
        self.queue.remove(edit.key)
        self.saving.changed()
        contents.touch(edit.elementIds)
        self.report(edit, EditAnswer(refusal: error), &outbox)
    }

    /// The room is left without being entered: what waits is refused for the same reason. What was sent may be stored,
    /// which nobody will tell this user.
    mutating func giveUp(_ denial: ClientError, _ contents: inout RoomContents, _ outbox: inout ClientOutbox) {
        for edit in self.queue.open {
            self.takeBack(edit, edit.number == nil ? denial : .forgotten, &contents, &outbox)
        }
    }

    /// Tells the app the result of all that was folded into an edit.
    private func report(_ edit: ClientEdit, _ answer: EditAnswer, _ outbox: inout ClientOutbox) {
        for id in edit.ids { self.address.tell(.result(id: id, answer), &outbox) }
    }

    // MARK: The room's stream

    /// The stream has an update of some session.
    /// - Returns: the elements of the edit that it shows, if that is one of these and has no answer yet.
    mutating func streamed(_ update: JSONObject) -> [TextKey] {
        guard let sid = update["sid"]?.string, TextKey(sid) == self.session.sid, let number = update["n"]?.integer
        else {
            return []
        }
        return self.queue.streamed(number)?.elementIds ?? []
    }

    /// A whole room arrived that contains the edits up to a number of the session.
    mutating func stored(upTo number: Int64, _ contents: inout RoomContents) {
        let epoch = contents.position.map { TextKey($0.epoch) }
        // Another history has other numbers: what was acknowledged in the former one is contained in this one, or lost.
        if epoch != self.epoch { self.queue.removeAcknowledged() }
        self.epoch = epoch
        self.queue.stored(upTo: number)
        self.touchAll(&contents)
        self.settle(&contents)
    }

    mutating func settle(_ contents: inout RoomContents) {
        for edit in self.queue.removeSettled(upTo: contents.seq) { contents.touch(edit.elementIds) }
    }
}

// MARK: - Edits in doubt

/// Edits that were sent in a session that ended, without an answer: only the room's history knows what became of them.
extension RoomEdits {
    /// Reads the room's history from where the oldest edit in doubt was sent, or goes on where a page could not be had.
    private mutating func searchHistory(_ outbox: inout ClientOutbox) {
        self.search.retryAt = nil
        guard self.isOpen, let oldest = self.queue.doubtful.map(\.sentAfter).min() else { return }
        self.readHistory(after: self.search.readingFrom ?? oldest, &outbox)
    }

    private mutating func readHistory(after seq: Int64, _ outbox: inout ClientOutbox) {
        self.search = DoubtSearch(readingFrom: seq)
        self.address.tell(.readHistory(after: seq), &outbox)
    }

    /// A page behind a number arrived; nil when it cannot be had.
    mutating func historyRead(
        after seq: Int64, _ page: HistoryExcerpt?, _ contents: inout RoomContents, _ outbox: inout ClientOutbox
    ) {
        guard self.search.readingFrom == seq, self.isOpen else { return }
        guard let page else {
            self.search.retryAt = outbox.now.plus(self.pause.next())
            return
        }
        for entry in page.entries { self.found(entry, &contents, &outbox) }
        // Without any change it reaches back to the present alone.
        let oldest = page.oldest ?? contents.seq.plus(1)
        for edit in self.queue.doubtful where oldest > edit.sentAfter.plus(1) {
            self.takeBack(edit, .forgotten, &contents, &outbox)
        }
        self.pause.reset()
        if let next = page.next, next > seq { return self.readHistory(after: next, &outbox) }
        self.searchEnded(&contents, &outbox)
    }

    /// The history has an edit of some session.
    private mutating func found(
        _ entry: HistoryExcerpt.Applied, _ contents: inout RoomContents, _ outbox: inout ClientOutbox
    ) {
        for edit in self.queue.doubtful where edit.doubt?.sid == entry.sid {
            if edit.number == entry.number {
                let answer = EditAnswer(foundAt: entry.seq, elements: entry.elements)
                self.acknowledged(edit, answer, &contents, &outbox)
            } else if edit.number ?? 0 < entry.number {
                // A session's numbers are decided in their order.
                self.queue.decided(edit.key)
            }
        }
    }

    /// What the history does not have was not applied: it is sent, unless something behind it was.
    private mutating func searchEnded(_ contents: inout RoomContents, _ outbox: inout ClientOutbox) {
        self.search = DoubtSearch()
        let doubtful = self.queue.doubtful
        for edit in doubtful where edit.doubt?.isDecided ?? false {
            self.takeBack(edit, .withoutEffect, &contents, &outbox)
        }
        self.queue.clearDoubts()
        for edit in doubtful { contents.touch(edit.elementIds) }
        self.refuseTooLarge(&contents, &outbox)
        self.saving.changed()
        self.pump(contents, &outbox)
    }
}

/// An undo or a redo that was refused because its entry cannot be taken back now. Asked again before anything else is
/// edited, it leaves the entry out.
struct BlockedStep: Sendable {
    let event: String
    let seq: Int64

    /// The body of an edit that is made next; nil when it is another command, or says itself what it leaves out.
    func passed(by event: String, _ body: JSONObject) -> JSONObject? {
        guard event == self.event, body["past"] == nil else { return nil }
        return JSONObject { writer in
            writer.member("past", self.seq)
            body.encodeMembers(into: &writer)
        }
    }
}
