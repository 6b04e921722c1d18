import Canvas
import JSONBytes

// That undo and redo do what a stack for each user and room says.

extension HistoryIndex {
    /// I16: an undo is of its user's newest entry that still has an effect, a redo of the newest undo; both change only
    /// what is as the entry left it, back to what it was before, and leave out what others have changed since. Neither
    /// deletes what others have worked on since. An answer that nothing was left is true.
    func undos() -> Verdict.Finding {
        var finding = Verdict.Finding()
        for (_, room) in self.rooms.sorted(by: { $0.key < $1.key }) where room.floor == 0 {
            var model = UndoModel(unclear: self.unclearUndos(in: room), dropped: self.droppedEntries(in: room))
            var unchanged = self.unchangedAnswers(of: room)[...]
            for row in room.rows {
                let record = self.history[row]
                let before = unchanged.prefix { self.history[$0].seq < record.seq }
                self.check(before, with: &model, &finding)
                unchanged = unchanged.dropFirst(before.count)
                finding.checked += 1
                let policy = self.commit(of: record)?.invoke.map { self.history[$0].undo }
                if let reason = model.apply(record, policy: policy) { finding.violated(reason, [row]) }
            }
            self.check(unchanged, with: &model, &finding)
        }
        return finding
    }

    private func check(_ answers: ArraySlice<Int>, with model: inout UndoModel, _ finding: inout Verdict.Finding) {
        for answer in answers {
            finding.checked += 1
            if let reason = model.leaveUnchanged(self.history[answer]) { finding.violated(reason, [answer]) }
        }
    }

    /// The answers that nothing was left to undo, by the room's number at the time.
    private func unchangedAnswers(of room: Room) -> [Int] {
        guard let name = room.end.map({ self.history[$0].room }) else { return [] }
        return self.commits.compactMap { commit in
            commit.key.room == name ? commit.acks.first { self.history[$0].isUnchanged } : nil
        }.sorted { self.history[$0].seq < self.history[$1].seq }
    }

    /// The undos and redos of a room, and who asked for them.
    private func undoRequests(in room: Room) -> [(commit: Commit, invoke: Int, user: String)] {
        guard let name = room.end.map({ self.history[$0].room }) else { return [] }
        return self.commits.compactMap { commit in
            guard commit.key.room == name, let invoke = commit.invoke, self.history[invoke].event.hasPrefix("history:")
            else { return nil }
            let user = self.history[invoke].user
            return (commit, invoke, user.isEmpty ? self.history[invoke].client : user)
        }
    }

    /// By user, the entries that undos and redos were to leave out.
    private func droppedEntries(in room: Room) -> [String: Set<UInt64>] {
        var entries: [String: Set<UInt64>] = [:]
        for (_, invoke, user) in self.undoRequests(in: room) {
            if let seq = UInt64(self.history[invoke].undo) { entries[user, default: []].insert(seq) }
        }
        return entries
    }

    /// Users whose undo or redo was never answered, or was refused, with the last number that they had seen when they
    /// asked for it: entries without effect may be gone.
    private func unclearUndos(in room: Room) -> [String: UInt64] {
        var users: [String: UInt64] = [:]
        for (commit, invoke, user) in self.undoRequests(in: room)
        where commit.rows.isEmpty && !commit.acks.contains(where: { self.history[$0].isUnchanged }) {
            let (client, name) = (self.history[invoke].client, self.history[invoke].room)
            let seen = self.history[..<invoke].last { $0.kind == .deliver && $0.client == client && $0.room == name }
            users[user] = min(users[user] ?? .max, seen?.seq ?? 0)
        }
        return users
    }

    /// How many undos and redos were applied, and how many had nothing left.
    var undoCounts: [String: Int64] {
        let rows = self.history.filter { $0.kind == .log }
        return [
            "undone": Int64(rows.count { $0.cause == "undo" }), "redone": Int64(rows.count { $0.cause == "redo" }),
            "nothing-undone": Int64(self.history.count { $0.kind == .ok && $0.isUnchanged }),
            "skipped-entries": rows.reduce(0) { $0 + $1.value },
        ]
    }
}

/// A room as its log makes it, with the stacks of its users.
private struct UndoModel {
    /// An element's fields as JSON texts.
    typealias Fields = [String: String]

    /// One row: its elements before and after it; nil where they do not exist.
    private struct Change {
        let seq: UInt64
        var before: [String: Fields] = [:]
        var after: [String: Fields] = [:]
        var ids: Set<String> { Set(self.before.keys).union(self.after.keys) }
    }

    private struct Stacks {
        /// Entries, the newest last, each of rows in order.
        var undo: [[Change]] = []
        var redo: [[Change]] = []
        /// The group that the newest entry is open for.
        var group: String?
        /// First rows of entries that perhaps belong to the entry of their group beneath, because what lies between may have
        /// been nothing.
        var rejoined: Set<UInt64> = []
        /// Entries that may be gone, by their newest rows: an undo was to leave them out, or one without a known end may
        /// have skipped them while they were without effect.
        var doubted: Set<UInt64> = []
    }

    private static let depth = 100
    /// What every change of an element sets.
    private static let bookkeeping: Set = ["rev", "updatedBy", "width", "height", "motion"]
    /// Fields that are taken back together with others, or not at all.
    private static let coupled: Set = ["positionX", "positionY", "anchorX", "anchorY", "scaleX", "scaleY"]

    private var elements: [String: Fields] = [:]
    private var stacks: [String: Stacks] = [:]
    /// By element, when each user has changed it last.
    private var authors: [String: [String: UInt64]] = [:]
    /// By user, from which number on an undo or a redo may have skipped entries without anybody seeing it.
    private let unclear: [String: UInt64]

    init(unclear: [String: UInt64], dropped: [String: Set<UInt64>]) {
        self.unclear = unclear
        for (user, entries) in dropped { self.stacks[user] = Stacks(doubted: entries) }
    }

    /// Applies a row.
    /// - Parameter policy: what the app said of it; nil when its requests are not recorded.
    /// - Returns: what is wrong with it.
    mutating func apply(_ row: HistoryRecord, policy: String?) -> String? {
        var change = Change(seq: row.seq)
        for (id, body) in row.states {
            change.before[id] = self.elements[id]
            change.after[id] = body.isEmpty ? nil : Self.fields(of: body)
        }
        let fault = row.cause.isEmpty ? nil : self.check(row, change, isRecorded: policy != nil)
        for id in row.states.keys { self.elements[id] = change.after[id] }
        for id in change.after.keys { self.authors[id, default: [:]][row.user] = row.seq }
        self.push(change, row, policy ?? "")
        self.noteDoubts(at: row.seq)
        return fault
    }

    private mutating func noteDoubts(at seq: UInt64) {
        for (user, first) in self.unclear where seq >= first {
            guard let stacks = self.stacks[user] else { continue }
            for entries in [stacks.undo, stacks.redo] {
                let skipped = entries.reversed().prefix { !self.hasEffect($0) }
                self.stacks[user]?.doubted.formUnion(skipped.compactMap { $0.last?.seq })
            }
        }
    }

    private mutating func push(_ change: Change, _ row: HistoryRecord, _ policy: String) {
        var stacks = self.stacks[row.user] ?? Stacks()
        switch row.cause {
        case "undo": stacks.redo.append([change])
        case "redo": stacks.undo.append([change])
        default:
            if policy == "none" { return }
            if Self.changesNothing(change) {
                guard Self.leavesOutMotion(change) else { return }
                // Whether the motion still ran is not in the history: this is an entry, or nothing.
                stacks.doubted.formUnion([change.seq] + stacks.redo.compactMap { $0.last?.seq })
                stacks.undo.append([change])
                break
            }
            stacks.redo = []
            let isOfGroup = !policy.isEmpty && stacks.group == policy
            if isOfGroup, let top = stacks.undo.last, !Self.mayBeNothing(top) {
                stacks.undo[stacks.undo.count - 1].append(change)
            } else {
                if isOfGroup { stacks.rejoined.insert(change.seq) }
                stacks.undo.append([change])
            }
            stacks.group = policy.isEmpty ? nil : policy
        }
        if stacks.undo.count > Self.depth { stacks.undo.removeFirst() }
        self.stacks[row.user] = stacks
    }

    private static func changesNothing(_ change: Change) -> Bool {
        change.ids.allSatisfy { id in
            guard var before = change.before[id], let after = change.after[id] else { return false }
            // What ends a motion that runs nearly always changes where its element is.
            if after["motion"] == nil { before["motion"] = nil }
            return !Self.differ(before, after, apartFrom: Self.bookkeeping.subtracting(["motion"]))
        }
    }

    /// Whether an entry is perhaps none.
    private static func mayBeNothing(_ entry: [Change]) -> Bool {
        entry.allSatisfy { self.changesNothing($0) && self.leavesOutMotion($0) }
    }

    private static func leavesOutMotion(_ change: Change) -> Bool {
        change.ids.contains { change.before[$0]?["motion"] != nil && change.after[$0]?["motion"] == nil }
    }

    /// Nothing was left to undo, or to redo.
    mutating func leaveUnchanged(_ answer: HistoryRecord) -> String? {
        var stacks = self.stacks[answer.user] ?? Stacks()
        let isUndo = answer.event == "history:undo"
        let entries = (isUndo ? stacks.undo : stacks.redo).filter { !stacks.doubted.contains($0.last?.seq ?? 0) }
        if isUndo { stacks.undo = [] } else { stacks.redo = [] }
        if !entries.isEmpty { stacks.group = nil }
        self.stacks[answer.user] = stacks
        return entries.contains { self.hasEffect($0) } ? "nothing was left, it says, but something was" : nil
    }

    /// Pops the entry that an undo is of. One whose request is not recorded may have been to leave others out.
    private mutating func check(_ row: HistoryRecord, _ change: Change, isRecorded: Bool) -> String? {
        var stacks = self.stacks[row.user] ?? Stacks()
        var entries = row.cause == "undo" ? stacks.undo : stacks.redo
        var fault: String?
        while let top = entries.last, let seq = top.last?.seq, seq != row.undone {
            if isRecorded, self.hasEffect(top), !stacks.doubted.contains(seq) {
                fault = "an entry was passed over that had an effect"
            }
            entries.removeLast()
        }
        guard var entry = entries.popLast() else { return "not an entry of the user's stack" }
        if let first = entry.first?.seq, stacks.rejoined.contains(first), self.fault(of: change, undoing: entry) != nil
        {
            while let beneath = entries.popLast() {
                entry = beneath + entry
                if !Self.mayBeNothing(beneath) { break }
            }
        }
        if row.cause == "undo" { stacks.undo = entries } else { stacks.redo = entries }
        stacks.group = nil
        self.stacks[row.user] = stacks
        // Its group began anew if what was there before is gone.
        let starts = entry.indices.filter { $0 == 0 || stacks.doubted.contains(entry[$0 - 1].seq) }
        let faults = starts.map { start in
            let rows = Array(entry[start...])
            return self.fault(of: change, undoing: rows) ?? self.deletedWork(by: row, change, undoing: rows)
        }
        return fault ?? (faults.contains(nil) ? nil : faults[0])
    }

    // MARK: Effects

    /// What is wrong with a change that takes an entry back.
    private func fault(of change: Change, undoing entry: [Change]) -> String? {
        let ids = Set(entry.flatMap(\.ids))
        for id in change.ids.sorted() where !ids.contains(id) {
            let parent = change.before[id]?["parentId"].map(Self.unquoted) ?? ""
            if change.after[id] != nil || !ids.contains(parent) || change.after[parent] != nil {
                return "\(id) is not of the entry"
            }
        }
        for id in ids.sorted() {
            let now = change.before[id] ?? self.elements[id]
            let stages = Self.stages(of: id, entry, from: now)
            let stored = change.ids.contains(id) ? change.after[id] : now
            switch (now, stored) {
            case (nil, nil): continue
            case (nil, let restored?):
                if let name = Self.wrongField(of: restored, after: stages.dropFirst()) {
                    return "\(id) came back otherwise: \(name)"
                }
            case (.some, nil):
                // An annotation goes with its parent, even if the entry changed it.
                let parent = now?["parentId"].map(Self.unquoted) ?? ""
                let isOfCreated = Self.isCreated(parent, entry) && change.after[parent] == nil
                if !Self.isCreated(id, entry), !isOfCreated { return "\(id) was deleted, but not created" }
            case (let now?, let stored?):
                if Self.isCreated(id, entry) { return "\(id) was created, but is not deleted" }
                let stages = stages.map { $0.map { Self.endingTracks(in: $0, from: now, to: stored) } }
                if let name = Self.wrongField(of: stored, after: stages[...]) {
                    return "\(id).\(name) should be \(stages.last??[name] ?? "absent")"
                }
            }
        }
        return change.ids.isEmpty ? "an undo without effect" : nil
    }

    /// What a change that takes an entry back deletes although others have worked on it since.
    private func deletedWork(by row: HistoryRecord, _ change: Change, undoing entry: [Change]) -> String? {
        for id in change.before.keys.sorted() where change.after[id] == nil {
            let family = [id, change.before[id]?["parentId"].map(Self.unquoted)]
            let creations = entry.filter { created in
                family.contains { $0.map { created.before[$0] == nil && created.after[$0] != nil } ?? false }
            }
            guard let since = creations.map(\.seq).min() else { continue }
            if let other = self.authors[id]?.first(where: { $0.key != row.user && $0.value > since }) {
                return "\(id) was deleted, but \(other.key) had changed it since"
            }
        }
        return nil
    }

    /// True when taking the entry back changes something for certain.
    private func hasEffect(_ entry: [Change]) -> Bool {
        Set(entry.flatMap(\.ids)).contains { id in
            let now = self.elements[id]
            let expected = Self.stages(of: id, entry, from: now).last ?? nil
            guard let now else {
                // It comes back, unless its parent is gone.
                guard let expected else { return false }
                return expected["parentId"].map { self.elements[Self.unquoted($0)] != nil } ?? true
            }
            guard let expected else { return true }
            return Self.differ(now, expected, apartFrom: Self.bookkeeping.union(Self.coupled))
        }
    }

    /// A field that is not as it should be once an entry was taken back. Coupled fields may have stopped at any stage: one
    /// of them that others have changed since keeps all of them as they were there.
    private static func wrongField(of stored: Fields, after stages: ArraySlice<Fields?>) -> String? {
        let names = stages.reduce(into: Set(stored.keys)) { names, fields in names.formUnion((fields ?? [:]).keys) }
        return names.subtracting(Self.bookkeeping).sorted().first { name in
            let right = Self.coupled.contains(name) ? stages : stages.suffix(1)
            return !right.contains { $0?[name] == stored[name] }
        }
    }

    /// An element while an entry is taken back from it, field by field: as it is, and after each of the entry's rows, the
    /// newest first.
    private static func stages(of id: String, _ entry: [Change], from now: Fields?) -> [Fields?] {
        var stages = [now]
        for change in entry.reversed() where change.ids.contains(id) {
            stages.append(Self.takenBack(id, change, from: stages.last ?? nil))
        }
        return stages
    }

    private static func takenBack(_ id: String, _ change: Change, from now: Fields?) -> Fields? {
        guard let before = change.before[id] else { return nil }
        guard let after = change.after[id] else { return now ?? before }
        var fields = now
        for name in Set(before.keys).union(after.keys).subtracting(Self.bookkeeping) where before[name] != after[name] {
            if fields?[name] == after[name] { fields?[name] = before[name] }
        }
        return fields
    }

    /// An animation that an undo leaves as it is loses what it shows instead of the fields that are changed back.
    private static func endingTracks(in fields: Fields, from now: Fields, to stored: Fields) -> Fields {
        guard fields["animation"] == now["animation"], let text = now["animation"],
            var animation = Self.animation(text), animation.composite == .replace
        else { return fields }
        for field in ElementField.animated where now["\(field.name)"] != stored["\(field.name)"] {
            animation.tracks[field] = nil
        }
        var fields = fields
        let isLeft = stored["animation"].flatMap(Self.animation) == animation
        fields["animation"] = animation.tracks.isEmpty ? nil : isLeft ? stored["animation"] : text
        return fields
    }

    private static func animation(_ text: String) -> KeyframeAnimation? {
        var document = JSONDocument()
        do { try document.parse(Array(text.utf8)) } catch { return nil }
        return KeyframeAnimation(json: document.root)
    }

    private static func isCreated(_ id: String, _ entry: [Change]) -> Bool {
        entry.contains { $0.before[id] == nil && $0.after[id] != nil }
    }

    private static func differ(_ left: Fields, _ right: Fields, apartFrom names: Set<String>) -> Bool {
        Set(left.keys).union(right.keys).subtracting(names).contains { left[$0] != right[$0] }
    }

    // MARK: Texts

    private static func fields(of body: String) -> Fields {
        var document = JSONDocument()
        guard (try? document.parse(Array(body.utf8))) != nil else { return [:] }
        var fields: Fields = [:]
        for (key, value) in document.root.members {
            fields[key.string ?? ""] = String(decoding: value.rawBytes, as: UTF8.self)
        }
        return fields
    }

    private static func unquoted(_ json: String) -> String { String(json.dropFirst().dropLast()) }
}
