// In which order commits took effect, and that each of them came to an end.

extension HistoryIndex {
    /// The longest time until an answer, once all faults have ended, ms.
    static let answerTime = 10_000.0

    /// I7: a session's commits took effect in the order of their numbers.
    func sessionOrder() -> Verdict.Finding {
        struct Session: Hashable {
            var room: String
            var session: String
        }
        var finding = Verdict.Finding()
        var last: [Session: Int] = [:]
        for room in self.rooms.values {
            for row in room.rows {
                let record = self.history[row]
                let session = Session(room: record.room, session: record.session)
                if let before = last.updateValue(row, forKey: session) {
                    finding.expect(self.history[before].number < record.number, "out of order", [before, row])
                }
            }
        }
        return finding
    }

    /// I8: what was acknowledged before another commit of the room was asked for comes before it.
    func realTime() -> Verdict.Finding {
        var finding = Verdict.Finding()
        var acknowledged: [String: Int] = [:]
        for place in self.history.indices {
            let record = self.history[place]
            if record.kind == .ok {
                let highest = acknowledged[record.room].map { self.history[$0].seq } ?? 0
                if record.seq > highest { acknowledged[record.room] = place }
            } else if record.kind == .invoke, let commit = self.commit(of: record), commit.invoke == place {
                guard let row = commit.rows.first, let before = acknowledged[record.room] else { continue }
                finding.expect(
                    self.history[before].seq < self.history[row].seq, "took effect before what was done already",
                    [before, place, row])
            }
        }
        return finding
    }

    /// I9: every commit of an app that lives is answered, soon after the last fault at the latest.
    func liveness() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for commit in self.commits {
            guard let invoke = commit.invoke, commit.lost == nil else { continue }
            finding.checked += 1
            guard let answer = commit.answer else {
                finding.violated("never answered", [invoke] + commit.retries)
                continue
            }
            let due = max(self.healTime, self.history[invoke].time) + Self.answerTime
            if self.heal != nil, self.history[answer].time > due {
                finding.violated("answered late", [invoke, answer])
            }
        }
        return finding
    }

    /// I12: an app that was refused for now, or lost its connection before the answer, gets one in the end, and it is
    /// the log's.
    func unknowns() -> Verdict.Finding {
        var finding = Verdict.Finding()
        let losses = self.losses()
        for commit in self.commits {
            guard let invoke = commit.invoke else { continue }
            let end = commit.answer ?? self.history.count
            let isLost = losses[self.history[invoke].client].map { Self.contains($0, from: invoke, to: end) } ?? false
            guard isLost || !commit.retries.isEmpty else { continue }
            finding.checked += 1
            if let ack = commit.acks.first, commit.rows.isEmpty, !self.history[ack].isUnchanged,
                self.history[ack].seq > self.rooms[commit.key.room]?.floor ?? 0
            {
                finding.violated("its end is an acknowledgement, but it has no row", [invoke, ack])
            }
            if let refusal = commit.refusals.first, let row = commit.rows.first {
                finding.violated("its end is a refusal, but it has a row", [invoke, refusal, row])
            }
            if commit.answer == nil, commit.lost == nil { finding.violated("it has no end", [invoke]) }
        }
        for commit in self.commits {
            if let ack = commit.acks.first, let refusal = commit.refusals.first {
                finding.violated("acknowledged and refused", [ack, refusal])
            }
            for (earlier, later) in zip(commit.acks, commit.acks.dropFirst())
            where self.history[earlier].seq != self.history[later].seq {
                finding.violated("two different acknowledgements", [earlier, later])
            }
        }
        return finding
    }

    /// Where each app lost its connection, in order.
    private func losses() -> [String: [Int]] {
        var losses: [String: [Int]] = [:]
        for place in self.history.indices where self.history[place].kind == .left && !self.history[place].isFinal {
            losses[self.history[place].client, default: []].append(place)
        }
        return losses
    }

    private static func contains(_ ordered: [Int], from start: Int, to end: Int) -> Bool {
        let place = firstIndex(in: ordered) { $0 >= start }
        return place < ordered.count && ordered[place] < end
    }
}
