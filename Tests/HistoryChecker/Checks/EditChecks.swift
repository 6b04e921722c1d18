// What the users of clients were told of their edits, against the log.

extension HistoryIndex {
    /// A user's edit, as places in the history.
    private struct UserEdit {
        var made: Int?
        var results: [Int] = []
        /// The requests that carried it: in several sessions if it was in doubt, together with others if it was folded.
        var commits: [CommitKey] = []
        /// Where the first of them is.
        var invoke: Int?
    }

    /// I21: an edit has exactly one result, over all runs of its app. One that was applied has one row, under the number
    /// that its user was told, one that was refused has none; what became of one that is forgotten is open, but it is not
    /// there twice.
    func edits() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for (_, edit) in self.userEdits().sorted(by: { $0.key < $1.key }) {
            finding.checked += 1
            let rows = edit.commits.flatMap { self.rows(of: $0) }
            let places = [edit.made, edit.invoke].compactMap(\.self)
            if edit.made == nil { finding.violated("an edit that no user made", edit.results + places) }
            if rows.count > 1 { finding.violated("one edit, several rows", places + rows) }
            guard let result = edit.results.first else {
                finding.violated("an edit without a result", places + rows)
                continue
            }
            if edit.results.count > 1 { finding.violated("several results", places + edit.results) }
            let told = self.history[result]
            if told.code.isEmpty {
                let isTrue = rows.first.map { self.history[$0].seq == told.seq } ?? self.isUnchanged(edit, told)
                if !isTrue { finding.violated("applied otherwise than its user was told", places + [result] + rows) }
            } else if told.code != "forgotten", !rows.isEmpty {
                finding.violated("its user was told of a refusal, but it was applied", places + [result] + rows)
            }
        }
        return finding
    }

    private func userEdits() -> [String: UserEdit] {
        var edits: [String: UserEdit] = [:]
        for place in self.history.indices {
            let record = self.history[place]
            switch record.kind {
            case .edit: edits[record.edit, default: UserEdit()].made = place
            case .result: edits[record.edit, default: UserEdit()].results.append(place)
            case .invoke:
                let commit = CommitKey(room: record.room, session: record.session, number: record.number)
                for name in record.edits {
                    var edit = edits[name] ?? UserEdit()
                    edit.commits.append(commit)
                    edit.invoke = edit.invoke ?? place
                    edits[name] = edit
                }
            default: break
            }
        }
        return edits
    }

    private func rows(of key: CommitKey) -> [Int] { self.commit(key)?.rows ?? [] }

    /// Whether nothing was left to undo; or the log no longer tells.
    private func isUnchanged(_ edit: UserEdit, _ told: HistoryRecord) -> Bool {
        if told.seq <= self.rooms[told.room]?.floor ?? 0, told.seq > 0 { return true }
        return edit.commits.contains { key in
            self.commit(key)?.acks.contains { self.history[$0].isUnchanged } ?? false
        }
    }
}
