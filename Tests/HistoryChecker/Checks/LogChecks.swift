// What apps were told of their commits, against the log.

extension HistoryIndex {
    /// I1: an acknowledged commit has exactly one row, with the number and the state that were acknowledged.
    func durable() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for commit in self.commits {
            for ack in commit.acks {
                let told = self.history[ack]
                finding.checked += 1
                if told.isUnchanged {
                    if let row = commit.rows.first {
                        finding.violated("nothing was left, but it is in the log", [ack, row])
                    }
                    continue
                }
                guard let row = commit.rows.first else {
                    // What the log no longer keeps cannot be looked up.
                    if told.seq > self.rooms[told.room]?.floor ?? 0 {
                        finding.violated("acknowledged, but not in the log", [ack])
                    }
                    continue
                }
                let stored = self.history[row]
                if commit.rows.count > 1 { finding.violated("acknowledged, but in the log twice", [ack] + commit.rows) }
                if stored.seq != told.seq { finding.violated("acknowledged under another number", [ack, row]) }
                if !Self.agree(told, stored) { finding.violated("acknowledged with another state", [ack, row]) }
            }
        }
        return finding
    }

    /// Whether an answer's states are the row's, as far as it tells any.
    private static func agree(_ told: HistoryRecord, _ stored: HistoryRecord) -> Bool {
        if !told.geometry.isEmpty { return told.geometry == stored.geometry }
        if !told.elements.isEmpty { return told.elements == stored.states }
        return told.body.isEmpty || told.body == stored.body
    }

    /// I2: a row was asked for, as it is, and once; what was refused for good has none. Commits that apps do not number
    /// are in sessions of their gateways, whose names have a dot; of those only that they are there once is known.
    func noPhantom() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for commit in self.commits {
            finding.checked += commit.rows.count
            guard let row = commit.rows.first else { continue }
            if commit.rows.count > 1 { finding.violated("one commit, several rows", commit.rows) }
            if let refusal = commit.refusals.first { finding.violated("refused, but in the log", [refusal, row]) }
            guard let invoke = commit.invoke else {
                if commit.key.session.contains(".") { continue }
                finding.violated("nobody asked for it", [row])
                continue
            }
            let (asked, stored) = (self.history[invoke], self.history[row])
            if asked.request.contains(where: { !Self.isDone($0.value, to: $0.key, by: stored) }) {
                finding.violated("not what was asked for", [invoke, row])
            }
        }
        return finding
    }

    /// Whether a row has an element's geometry as it was requested: x, y and what does not depend on its space. Since an
    /// older backup was restored, the id may be that of an annotation, whose position is kept within its parent.
    private static func isDone(_ request: String, to element: String, by row: HistoryRecord) -> Bool {
        guard let stored = row.geometry[element] ?? row.states[element] else { return false }
        if stored == request { return true }
        let (wanted, found) = (request.split(separator: " "), stored.split(separator: " "))
        let isWithin = wanted.prefix(2).allSatisfy { Double($0).map { 0 <= $0 && $0 <= 1 } ?? true }
        return row.parents[element] != nil && !isWithin && wanted.dropFirst(2) == found.dropFirst(2)
    }

    /// I3: a room's numbers run from its floor to its end, a shard's to its own, and both tell the same order.
    func gapless() -> Verdict.Finding {
        var finding = Verdict.Finding()
        var shardOf: [String: Int] = [:]
        var shardRows: [Int: [Int]] = [:]
        for (name, room) in self.rooms.sorted(by: { $0.key < $1.key }) {
            var due = room.floor + 1
            for (position, row) in room.rows.enumerated() {
                let record = self.history[row]
                finding.expect(record.seq == due, "room \(name): \(due) was due", [row])
                if position > 0, self.history[room.rows[position - 1]].gseq >= record.gseq {
                    finding.violated("room and shard disagree on the order", [room.rows[position - 1], row])
                }
                due = record.seq + 1
                if shardOf.updateValue(record.shard, forKey: name).map({ $0 != record.shard }) ?? false {
                    finding.violated("a room in two shards", [row])
                }
                shardRows[record.shard, default: []].append(row)
            }
            finding.expect(due == room.seq + 1, "room \(name) ends at \(room.seq), its log does not", [room.end ?? -1])
        }
        self.checkShards(shardRows, shardOf, &finding)
        return finding
    }

    private func checkShards(_ shardRows: [Int: [Int]], _ shardOf: [String: Int], _ finding: inout Verdict.Finding) {
        // What is below the floors of a shard's rooms is missing from its order; it is known where only if all is.
        var missing: [Int: UInt64] = [:]
        var isKnown = true
        for (name, room) in self.rooms where room.floor > 0 {
            if let shard = shardOf[name] { missing[shard, default: 0] += room.floor } else { isKnown = false }
        }
        for (shard, rows) in shardRows.sorted(by: { $0.key < $1.key }) {
            let ordered = rows.sorted { self.history[$0].gseq < self.history[$1].gseq }
            for (earlier, later) in zip(ordered, ordered.dropFirst()) {
                let step = self.history[later].gseq - self.history[earlier].gseq
                finding.expect(
                    step == 1 || step > 1 && missing[shard] != nil, "shard \(shard): a repeat or a gap",
                    [earlier, later])
            }
            let end = self.shards[shard]
            guard let last = ordered.last, let end else {
                finding.violated("shard \(shard) has rows but no end", Array(ordered.suffix(1)))
                continue
            }
            finding.expect(self.history[last].gseq <= end, "shard \(shard) ends at \(end), its log later", [last])
            if isKnown {
                finding.expect(
                    UInt64(rows.count) + (missing[shard] ?? 0) == end, "shard \(shard): rows are missing", [last])
            }
        }
        for (shard, end) in self.shards.sorted(by: { $0.key < $1.key }) where shardRows[shard] == nil && isKnown {
            finding.expect(end == 0 || missing[shard] == end, "shard \(shard) ends at \(end), its log is empty", [])
        }
    }
}
