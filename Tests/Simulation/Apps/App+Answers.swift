import HistoryChecker
import JSONBytes

// What comes back to an app.
extension App {
    func received(_ message: AppMessage, _ text: AppText) {
        switch message {
        case .acknowledged(let ack):
            self.answered(ack, text.root)
        case .event:
            guard !self.hasLeft else { return }
            var arguments = text.root.elements.makeIterator()
            guard let name = arguments.next()?.string, let data = arguments.next() else { return }
            self.event(name, data)
        }
    }

    private func answered(_ ack: UInt64, _ answer: JSONValue) {
        self.observe(.answer) {
            $0.number = ack
            $0.seq = self.awaitsCommit(ack) ? UInt64(answer["seq"]?.integer ?? 0) : 0
        }
        switch self.awaited.removeValue(forKey: ack) {
        case .join where ack == self.lastJoin: self.joinAnswered(answer)
        case .commit(let number): self.commitAnswered(number, answer, to: ack)
        case .view(let box): self.viewAnswered(box, answer)
        case .join, .other, nil: break
        }
    }

    private func awaitsCommit(_ ack: UInt64) -> Bool {
        if case .join = self.awaited[ack] { false } else { true }
    }

    // MARK: Joins

    private func joinAnswered(_ answer: JSONValue) {
        guard answer["ok"]?.bool == true else { return self.joinRefused(answer) }
        self.state = .joined
        self.hasLeft = false
        self.beganToSee()
        self.session = answer["session"]?.string
        let sid = answer["sid"]?.string ?? ""
        if sid != self.sid { self.beginSession(sid) }
        self.meet(answer["members"])
        let epoch = answer["epoch"]?.string ?? ""
        let seq = UInt64(answer["seq"]?.integer ?? 0)
        if let updates = answer["updates"] {
            // Updates that came while the join was under way are had already.
            let place = max(self.asked, self.place?.epoch == epoch ? self.place?.seq ?? 0 : 0)
            self.observe(.resumed) {
                $0.epoch = epoch
                $0.seq = place
            }
            self.place = (epoch, place)
            for update in updates.elements {
                guard let data = update["data"], UInt64(update["seq"]?.integer ?? 0) > place else { continue }
                self.update(update["event"]?.string ?? "", data)
            }
            if self.place?.seq != seq { self.world.count("apps.wrong-place") }
        } else if answer["parts"] != nil {
            self.partial = (epoch, seq, [:])
        } else {
            self.snapshot(AppText.states(of: answer["elements"]), epoch, seq)
        }
        for index in self.pending.indices { self.pending[index].isSent = false }
        // Answers to what was sent before are of use still, but not awaited.
        self.flush()
    }

    /// What the other members show is in the answer to a join.
    private func meet(_ members: JSONValue?) {
        self.selections = [:]
        self.cursors = []
        for connection in members?.children.flatMap({ $0["connections"]?.children ?? [] }) ?? [] {
            guard let sid = connection["sid"]?.string else { continue }
            self.selections[sid] = connection["selection"]?.children.compactMap(\.string)
            if connection["cursor"] != nil { self.cursors.insert(sid) }
        }
    }

    /// One part of a snapshot came.
    private func part(_ data: JSONValue) {
        self.partial?.states.merge(AppText.states(of: data["elements"])) { $1 }
        guard let partial, data["part"]?.integer == data["parts"]?.integer else { return }
        self.partial = nil
        self.snapshot(partial.states, partial.epoch, partial.seq)
    }

    private func snapshot(_ states: [String: String], _ epoch: String, _ seq: UInt64) {
        self.place = (epoch, seq)
        self.elements.reset(to: states)
        self.observe(.snapshot) {
            $0.epoch = epoch
            $0.seq = seq
            $0.elements = states
        }
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
        self.lastNumber = 0
        self.selection = []
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
            return self.accepted(commit, answer)
        }
        let code = answer["error"]?["code"]?.string ?? "?"
        let isFinal = !["gap", "rate_limited", "busy", "unavailable", "session_expired", "?"].contains(code)
        self.observe(.refused) {
            $0.session = self.sid
            $0.number = number
            $0.code = code
            $0.isFinal = isFinal
        }
        if answer["error"]?["heldBy"] != nil { self.world.count("apps.conflicts") }
        if isFinal {
            self.pending.remove(at: index)
        } else if self.pending[index].ack == ack {
            self.tryAgain(index, code, UInt64(answer["error"]?["retryAfterMs"]?.integer ?? 50))
        }
    }

    private func accepted(_ commit: Pending, _ answer: JSONValue) {
        self.world.count("acks.\(commit.event)")
        self.observe(.ok) {
            $0.session = self.sid
            $0.number = commit.number
            $0.seq = UInt64(answer["seq"]?.integer ?? 0)
            switch commit.event {
            case "elements:transform", "elements:gesture": $0.geometry = AppText.states(of: answer["elements"])
            case "elements:create": $0.elements = AppText.states(of: answer["elements"])
            case "history:undo", "history:redo":
                $0.isUnchanged = answer["undone"] == nil
                ($0.event, $0.user) = (commit.event, self.name)
            case "element:delete", "elements:delete": $0.elements = AppText.deletedStates(of: answer["elementIds"])
            default: $0.elements = AppText.state(of: answer["element"])
            }
        }
    }

    private func tryAgain(_ index: Int, _ code: String, _ pause: UInt64) {
        let number = self.pending[index].number
        if code == "session_expired", case .joined = self.state {
            // Somebody else has the session, or a late claim of ours overtook the join: claim it again.
            self.world.count("apps.claimed-again")
            return self.join()
        }
        self.world.after(pause * .millisecond) { [weak self] in
            guard let self, let index = self.pending.firstIndex(where: { $0.number == number }) else { return }
            self.pending[index].isSent = false
            self.flush()
        }
    }

    // MARK: Events

    private func event(_ name: String, _ data: JSONValue) {
        switch name {
        case "element:transformed", "element:created", "element:updated", "element:deleted", "elements:transformed",
            "elements:created", "elements:changed":
            self.update(name, data)
        case "element:transforming": self.preview(of: data, data)
        case "elements:transforming":
            guard let elements = data["elements"] else { return }
            for element in elements.elements { self.preview(of: element, data) }
        case "cursor:moved": self.cursor(data)
        case "selection:changed":
            self.world.count("selections")
            self.selections[data["sid"]?.string ?? ""] = data["elementIds"]?.children.compactMap(\.string)
        case "room:elements": self.part(data)
        case "room:resync":
            self.observe(.resync) {
                $0.from = UInt64(data["from"]?.integer ?? 0)
                $0.to = UInt64(data["to"]?.integer ?? 0)
            }
            self.moving = nil
            self.join()
        default: break
        }
    }

    private func preview(of element: JSONValue, _ data: JSONValue) {
        self.observe(.preview) {
            $0.element = element["elementId"]?.string ?? ""
            $0.sender = data["userId"]?.string ?? ""
            $0.gesture = UInt64(data["gesture"]?.integer ?? 0)
            $0.show(element, on: self.elements.states[$0.element])
        }
    }

    private func update(_ name: String, _ data: JSONValue) {
        let states = self.elements.apply(name, data)
        let seq = UInt64(data["seq"]?.integer ?? 0)
        self.observe(.deliver) {
            $0.seq = seq
            $0.event = name
            $0.session = data["sid"]?.string ?? ""
            $0.number = UInt64(data["n"]?.integer ?? 0)
            $0.elements = states
        }
        self.place?.seq = seq
    }
}
