import HistoryChecker
import JSONBytes

// What comes back to an app.
extension App {
    func received(_ message: AppMessage, _ text: AppText) {
        switch message {
        case .acknowledged(let ack):
            self.answered(ack, text.root)
        case .event:
            guard !self.witness.hasLeft else { return }
            var arguments = text.root.elements.makeIterator()
            guard let name = arguments.next()?.string, let data = arguments.next() else { return }
            self.witness.received(name, data)
            if name == "room:resync" { self.missed() }
            if name == "transform:error", data["code"]?.string == "session_expired" { self.claimAgain() }
        case .opened, .accepted, .ping: break
        }
    }

    private func answered(_ ack: UInt64, _ answer: JSONValue) {
        let awaited = self.awaited.removeValue(forKey: ack)
        self.observe(.answer) {
            $0.number = ack
            if case .unnumbered = awaited { $0.code = answer["error"]?["code"]?.string ?? "" }
            if case .join = awaited { return }
            $0.seq = UInt64(answer["seq"]?.integer ?? 0)
        }
        switch awaited {
        case .join where ack == self.lastJoin: self.joinAnswered(answer)
        case .commit(let number): self.commitAnswered(number, answer, to: ack)
        case .view(let box): self.viewAnswered(box, answer)
        case .join, .unnumbered, .other, nil: break
        }
    }

    // MARK: Joins

    private func joinAnswered(_ answer: JSONValue) {
        guard answer["ok"]?.bool == true else { return self.joinRefused(answer) }
        self.state = .joined
        self.session = answer["session"]?.string
        let sid = answer["sid"]?.string ?? ""
        if sid != self.sid { self.beginSession(sid) }
        self.beganToSee()
        if !self.witness.joined(answer) { self.world.count("apps.wrong-place") }
        for index in self.pending.indices { self.pending[index].isSent = false }
        // Answers to what was sent before are of use still, but not awaited.
        self.flush()
    }

    /// A new session: its numbers begin anew, and what became of the old one's commits is never known.
    private func beginSession(_ sid: String) {
        for commit in self.pending {
            self.world.count("apps.lost")
            self.observe(.lost) {
                $0.session = self.sid
                $0.number = commit.number
            }
        }
        self.pending = []
        self.slowedBy = nil
        self.lastNumber = 0
        self.shown = [:]
        self.sid = sid
    }

    private func joinRefused(_ answer: JSONValue) {
        let error = answer["error"]
        if error?["code"]?.string == "session_expired" {
            self.world.count("apps.session-expired")
            self.session = nil
        } else {
            self.world.count("apps.join-refused")
        }
        self.joinLater(after: UInt64(error?["retryAfterMs"]?.integer ?? 100))
    }

    private func joinLater(after pause: UInt64) {
        let connection = self.connection
        self.state = .joining
        self.world.after(pause * .millisecond) { [weak self] in
            guard let self, self.connection === connection else { return }
            self.join()
        }
    }

    // MARK: Commits

    private func commitAnswered(_ number: UInt64, _ answer: JSONValue, to ack: UInt64) {
        guard let index = self.pending.firstIndex(where: { $0.number == number }) else { return }
        if answer["ok"]?.bool == true {
            let commit = self.pending.remove(at: index)
            return self.witness.accepted(answer, as: commit.number, of: self.sid, commit.event)
        }
        let error = answer["error"]
        if self.witness.refused(error, as: number, of: self.sid) {
            let commit = self.pending.remove(at: index)
            guard let seq = error?["entry"]?["seq"]?.integer else { return }
            self.world.count("apps.blocked-undos")
            self.blocked = (commit.event, UInt64(seq))
        } else if self.pending[index].ack == ack {
            self.tryAgain(index, error?["code"]?.string, UInt64(error?["retryAfterMs"]?.integer ?? 50))
        }
    }

    private func tryAgain(_ index: Int, _ code: String?, _ pause: UInt64) {
        let number = self.pending[index].number
        if code == "session_expired", case .joined = self.state { return self.claimAgain() }
        // What follows could be taken for the rate that this one needs, only to find a gap.
        if code == "rate_limited" { self.slowedBy = number }
        self.world.after(pause * .millisecond) { [weak self] in
            guard let self, let index = self.pending.firstIndex(where: { $0.number == number }) else { return }
            self.pending[index].isSent = false
            if self.slowedBy == number { self.slowedBy = nil }
            self.flush()
        }
    }

    /// Somebody else has the session, or a late claim of its own overtook the join.
    private func claimAgain() {
        guard case .joined = self.state else { return }
        self.world.count("apps.claimed-again")
        self.join()
    }

    /// It missed something, and has to join again.
    private func missed() {
        self.moving = nil
        self.join()
    }
}
