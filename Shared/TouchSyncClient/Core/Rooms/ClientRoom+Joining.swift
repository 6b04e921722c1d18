import JSONBytes

extension ClientRoom {
    /// Joins, or joins again: with the session and the position that are known.
    mutating func join(_ outbox: inout ClientOutbox) {
        self.retryAt = nil
        guard outbox.isConnected else { return }
        self.phase = .joining
        self.edits.joinBegan()
        self.gestures.isOpen = false
        self.awareness.joinBegan()
        self.address.ask("room:join", about: .join(room: self.address.serial), &outbox) { writer in
            writer.member("parts", true)
            writer.member("session", ifPresent: self.edits.session.secret)
            if !self.motion.playing.isOn { writer.member("motion", false) }
            guard let (epoch, seq) = self.contents.position else { return }
            writer.object("resume") { writer in
                writer.member("epoch", epoch)
                writer.member("seq", seq)
            }
        }
    }

    /// The app wants a room that is not left yet, and may be told of it for the first time.
    mutating func joinedAgain(_ outbox: inout ClientOutbox) {
        guard self.isLeaving else { return }
        (self.isLeaving, self.givesUp) = (false, false)
        self.contents.touchAll()
        if self.phase == .refused, let denial { self.tell(.refused(denial), &outbox) }
        guard self.phase == .joined else { return }
        self.tell(.membersChanged, &outbox)
        self.tell(.joined(recovered: true), &outbox)
    }

    mutating func joinAnswered(_ answer: JSONObject, _ outbox: inout ClientOutbox) {
        if answer["ok"]?.bool == true {
            self.joinAccepted(answer, &outbox)
        } else {
            self.joinRefused(ClientError(JSONObject(answer["error"])), &outbox)
        }
    }

    private mutating func joinAccepted(_ answer: JSONObject, _ outbox: inout ClientOutbox) {
        self.throttleMs = answer["throttleMs"]?.milliseconds ?? 16
        let last = answer["n"]?.integer ?? 0
        guard self.edits.joinAccepted(answer, last: last) else { return self.loseSession(&outbox) }
        self.edits.refuseTooLarge(&self.contents, &outbox)
        if self.contents.rulesArrived(answer["rules"]) { self.edits.touchAll(&self.contents) }
        self.people.met(answer)
        self.tell(.membersChanged, &outbox)
        if answer["recovered"]?.bool == true, self.isPresentEpoch(answer["epoch"]) {
            return self.resumed(answer, &outbox)
        }
        self.contents.began(RoomArrival(answer: answer, sessionNumber: last))
        if answer["parts"]?.integer ?? 0 > 0 { self.phase = .parts } else { self.replaced(&outbox) }
    }

    private func isPresentEpoch(_ epoch: JSONValue?) -> Bool {
        guard let epoch, let position = self.contents.position else { return false }
        return epoch.isString(position.epoch)
    }

    /// The missed updates arrived.
    private mutating func resumed(_ answer: JSONObject, _ outbox: inout ClientOutbox) {
        for update in answer["updates"]?.objects ?? [] {
            let data = JSONObject(update["data"])
            guard let seq = data["seq"]?.integer, seq == self.contents.seq.plus(1) else { continue }
            self.apply(update["event"]?.string ?? "", data, seq: seq, isLive: false, &outbox)
        }
        if self.contents.seq == answer["seq"]?.integer { return self.ready(recovered: true, &outbox) }
        // Not what was promised: the whole room instead.
        self.contents.forgetPosition()
        self.join(&outbox)
    }

    mutating func partArrived(_ data: JSONObject, _ outbox: inout ClientOutbox) {
        guard self.phase == .parts, self.contents.partArrived(data) else { return }
        self.replaced(&outbox)
    }

    /// A whole room arrived in place of what was known.
    private mutating func replaced(_ outbox: inout ClientOutbox) {
        guard let last = self.contents.replaced() else { return }
        self.motion.playAll(self.contents.confirmed, &outbox)
        self.endMovements(self.motion.movements.elements, &outbox)
        self.edits.stored(upTo: last, &self.contents)
        self.ready(recovered: false, &outbox)
    }

    private mutating func ready(recovered: Bool, _ outbox: inout ClientOutbox) {
        self.phase = .joined
        self.tell(.joined(recovered: recovered), &outbox)
        // The end of gestures where this user does not look may have been missed.
        self.endMovements(self.motion.underWay(in: self.contents, outside: self.awareness.viewport), &outbox)
        self.gestures.isOpen = true
        self.awareness.joined(interval: self.throttleMs, &outbox)
        self.edits.joined(self.contents, &outbox)
    }

    private mutating func joinRefused(_ error: ClientError, _ outbox: inout ClientOutbox) {
        if error.code == .sessionExpired, self.edits.session.secret != nil { return self.loseSession(&outbox) }
        if error.isRetryable {
            self.retryAt = outbox.now.plus(self.edits.pause.next(asked: error.retryAfter))
            return
        }
        self.phase = .refused
        self.denial = error
        self.tell(.refused(error), &outbox)
    }

    /// The answer to an edit that was sent for the `attempt`th time, under a session.
    mutating func editAnswered(
        _ key: Int, attempt: Int, session: String?, _ answer: JSONObject, _ outbox: inout ClientOutbox
    ) {
        switch self.edits.answered(key, attempt: attempt, session: session, answer, &self.contents, &outbox) {
        case .lives: break
        case .expired: self.join(&outbox)
        case .lost: self.loseSession(&outbox)
        }
    }

    /// The room goes on under another session.
    private mutating func loseSession(_ outbox: inout ClientOutbox) {
        self.edits.loseSession(&self.contents)
        self.join(&outbox)
    }
}
