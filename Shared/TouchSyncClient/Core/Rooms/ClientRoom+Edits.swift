import JSONBytes

extension ClientRoom {
    /// The app edits: shown immediately, sent as soon as it may be.
    mutating func edit(id: String, event: String, body: JSONObject, _ outbox: inout ClientOutbox) {
        var edit = ClientEdit(ids: [id], event: event, body: body)
        if edit.isDeletion { edit.elementIds += self.contents.annotations(of: edit.elementIds) }
        guard self.allowance.allows(edit) else {
            return self.report(edit, EditAnswer(refusal: .tooLarge(limit: self.allowance.message)), &outbox)
        }
        guard self.queue.append(edit) else {
            return self.report(edit, EditAnswer(refusal: .queueFull), &outbox)
        }
        self.saving.changed()
        self.contents.touch(edit.elementIds)
        self.pump(&outbox)
    }

    /// Sends what may be sent.
    mutating func pump(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined, !self.queue.hasDoubts, self.resumeAt == nil else { return }
        while let edit = self.queue.next(limit: self.allowance.unacknowledged, seq: self.contents.seq) {
            self.saving.changed()
            let subject = RequestSubject.edit(
                room: self.serial, key: edit.key, attempt: edit.attempt, session: self.session.secret)
            self.ask(edit.event, about: subject, &outbox) { writer in
                edit.body.encodeMembers(into: &writer, except: ["roomId", "n"])
                writer.member("n", ifPresent: edit.number)
            }
        }
    }

    /// The answer to an edit that was sent for the `attempt`th time, under a session.
    mutating func editAnswered(
        _ key: Int, attempt: Int, session: String?, _ answer: JSONObject, _ outbox: inout ClientOutbox
    ) {
        // What an ended session still says is about another sending of the edit.
        guard self.session.isSame(session), let edit = self.queue.openEdit(key) else { return }
        let answer = EditAnswer(answer)
        guard let error = answer.error else { return self.acknowledged(edit, answer, &outbox) }
        switch error.code {
        case "gap", "session_expired": break
        case _ where error.isRetryable: break
        default: return self.refusedForGood(edit, error, &outbox)
        }
        // It was sent again since.
        guard attempt == edit.attempt, edit.isUnderWay else { return }
        self.refusedForNow(edit, error, &outbox)
    }

    mutating func acknowledged(_ edit: ClientEdit, _ answer: EditAnswer, _ outbox: inout ClientOutbox) {
        let seq = answer.seq ?? 0
        self.queue.acknowledge(edit.key, seq: seq)
        self.saving.changed()
        self.pause.reset()
        self.report(edit, answer, &outbox)
        // In doubt it was not shown; nor if a whole room, older than its answer said, seemed to contain it.
        if !edit.isShown { self.contents.touch(edit.elementIds) }
        // Until the room's stream reaches it, the edit stays on top, or the element would jump back for a moment.
        if seq <= self.contents.seq { self.settle() }
        self.pump(&outbox)
    }

    private mutating func refusedForGood(_ edit: ClientEdit, _ error: ClientError, _ outbox: inout ClientOutbox) {
        if error.code == "unknown_event" { self.queue.fill(edit.key) }
        self.takeBack(edit, error, &outbox)
        self.pump(&outbox)
    }

    private mutating func refusedForNow(_ edit: ClientEdit, _ error: ClientError, _ outbox: inout ClientOutbox) {
        if error.code == "gap" {
            guard let expected = error.details["expected"]?.integer, expected >= self.queue.firstNumber else {
                return self.loseSession(&outbox)
            }
            self.queue.resend(from: expected)
            return self.pump(&outbox)
        }
        self.queue.resend(from: edit.number ?? 0)
        if error.code == "session_expired" {
            if self.phase == .joined { self.join(&outbox) }
        } else {
            self.resumeAt = outbox.now.plus(self.pause.next(asked: error.retryAfter))
        }
    }

    /// Refused for good: it is not shown any more.
    mutating func takeBack(_ edit: ClientEdit, _ error: ClientError, _ outbox: inout ClientOutbox) {
        self.queue.remove(edit.key)
        self.saving.changed()
        self.contents.touch(edit.elementIds)
        self.report(edit, EditAnswer(refusal: error), &outbox)
    }

    /// Tells the app the result of all that was folded into an edit.
    private func report(_ edit: ClientEdit, _ answer: EditAnswer, _ outbox: inout ClientOutbox) {
        for id in edit.ids { self.tell(.result(id: id, answer), &outbox) }
    }

    /// Removes acknowledged edits that the stream has reached.
    mutating func settle() {
        for edit in self.queue.removeSettled(upTo: self.contents.seq) { self.contents.touch(edit.elementIds) }
    }
}
