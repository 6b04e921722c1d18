import Canvas
package import Wire

/// What an undo or a redo finds on its stack: the newest entry of which something is left to take back.
struct UndoStep {
    enum Finding {
        /// No entry is left that has an effect.
        case nothing
        case reversal(Reversal, Undone)
        /// The entry would change more elements than one commit may.
        case tooLarge(Undone)
        /// The entry cannot be taken back now, or ``HistoryStep/past`` is not on top.
        case refused(Refusal)
    }

    /// What to do. The entry is still on its stack.
    private(set) var finding = Finding.nothing
    /// The user's stacks without the entries that were dropped or skipped.
    private(set) var stacks: UndoStacks
    private var skipped = 0
    private var skippedBytes = 0

    /// How many rows are read at once after an entry was skipped.
    private static let rowsAhead: UInt64 = 32

    /// Goes down a stack. Entries without effect are skipped: others have changed the same since, or deleted it. Beyond a
    /// number of bytes it ends there, and the next undo goes on: the shard waits for each read.
    ///
    /// Nil when something must be read first, which is then added to `needs`.
    /// - Parameter progress: how far an earlier attempt came; updated.
    init?<Step: HistoryStep>(
        _ step: Step, of user: UserKey, rules: RulesTable, progress: inout UndoProgress?, _ cache: inout ShardCache,
        into needs: inout Needs
    ) {
        guard let stacks = cache.stacks.use(user) else { return nil }
        self.stacks = stacks
        if let progress, progress.version == cache.version, progress.chain == cache.chain {
            self.stacks = progress.stacks
            self.skipped = progress.skipped
            self.skippedBytes = progress.skippedBytes
        } else if let past = step.past {
            guard let isOnTop = self.drop(past, Step.direction, in: user.room, cache, into: &needs) else { return nil }
            if !isOnTop {
                let message = "The entry \(past) is not the newest one that the user can \(Step.direction.name)."
                self.finding = .refused(Refusal(.conflict, message, field: "past"))
                return
            }
        }
        while self.stacks.stack(for: Step.direction).depth > 0, self.skippedBytes < needs.skippedBytes {
            let key = UndoEntryKey(user.room, self.stacks.stack(for: Step.direction).head)
            guard let rows = cache.undoRows(key) else {
                // Where one has no effect, those below are likely to have none: somebody changed the same later.
                needs.entry(UndoEntryNeed(key: key, ahead: self.skipped > 0 ? Self.rowsAhead : 0))
                return nil
            }
            guard let last = rows.last else {
                // The log is kept for some days only, and with it what can be undone.
                self.stacks.pop(Step.direction, next: 0)
                return
            }
            guard let finding = self.judge(rows, Step.direction, of: user, rules, &cache, into: &needs) else {
                let depth = stacks.stack(for: Step.direction).depth
                cache.collect(below: last, in: user.room, depth: depth, into: &needs)
                return nil
            }
            self.finding = finding
            guard case .nothing = finding else { return }
            self.stacks.pop(Step.direction, next: last.next)
            self.skipped += 1
            self.skippedBytes += rows.reduce(0) { $0 + $1.bytes }
            cache.dropUndoRows(key)
            progress = UndoProgress(
                version: cache.version, chain: cache.chain, stacks: self.stacks, skipped: self.skipped,
                skippedBytes: self.skippedBytes)
        }
    }

    /// What can be done with an entry, whose rows are given; nil when something must be read first.
    private func judge(
        _ rows: [UndoRow], _ direction: UndoDirection, of user: UserKey, _ rules: RulesTable,
        _ cache: inout ShardCache, into needs: inout Needs
    ) -> Finding? {
        guard let top = rows.first, let last = rows.last else { return .nothing }
        let parsed = rows.map(UndoneRow.init)
        let undone = Undone(
            direction: direction, entry: UndoneEntry(seq: top.seq, event: top.event, skipped: self.skipped),
            elements: parsed.elements, next: last.next)
        switch cache.collect(parsed, in: user.room, into: &needs) {
        case .incomplete: return nil
        case .tooMany: return .tooLarge(undone)
        case .complete: break
        }
        let reversal = Reversal(of: parsed, direction, by: user, rules: rules, &cache)
        if var refusal = reversal.obstacle {
            refusal.entry = undone.blocked
            return .refused(refusal)
        }
        return reversal.hasEffect ? .reversal(reversal, undone) : .nothing
    }

    /// Drops the top entry of a stack.
    /// - Returns: false when another one is on top; nil when its rows must be read first.
    private mutating func drop(
        _ past: UInt64, _ direction: UndoDirection, in room: Identifier, _ cache: ShardCache, into needs: inout Needs
    ) -> Bool? {
        let stack = self.stacks.stack(for: direction)
        guard stack.depth > 0, stack.head == past else { return false }
        let key = UndoEntryKey(room, past)
        guard let rows = cache.undoRows(key) else {
            needs.entry(UndoEntryNeed(key: key, ahead: Self.rowsAhead))
            return nil
        }
        self.stacks.pop(direction, next: rows.last?.next ?? 0)
        return true
    }
}

extension [UndoneRow] {
    /// The elements of an entry, each once.
    fileprivate var elements: [Identifier] {
        var seen: Set<Identifier> = []
        let all = self.lazy.flatMap { $0.deleted + $0.changed.map(\.before) + $0.created }
        return all.map { Identifier($0.id) }.filter { seen.insert($0).inserted }
    }
}

/// How far down a stack an undo has come that waits for a read: each entry is looked at once, however many there are.
struct UndoProgress: Equatable, Sendable {
    /// The version and the chain of the shard that the entries were judged on. A history that was replaced meanwhile may
    /// have the same version.
    let version: UInt64?, chain: UInt64
    /// The stacks without the skipped entries.
    let stacks: UndoStacks
    /// The number of skipped entries, and the bytes of their rows.
    let skipped: Int, skippedBytes: Int
}

/// The entry that an undo or a redo was made from.
package struct UndoneEntry: Equatable, Sendable {
    /// The room's number of its newest change.
    package var seq: UInt64
    package var event: UpdateEvent
    /// How many newer entries were passed over, because nothing of them was left to take back.
    package var skipped: Int

    package init(seq: UInt64, event: UpdateEvent, skipped: Int) {
        self.seq = seq
        self.event = event
        self.skipped = skipped
    }
}

extension ShardCache {
    /// Whether the elements of an entry are known: those that it names, the families of those that it created, and the
    /// parents of annotations that it deleted, with their number of annotations. Missing ones are added to `needs`.
    fileprivate mutating func collect(
        _ rows: [UndoneRow], in room: Identifier, into needs: inout Needs
    ) -> FamilyKnowledge {
        var isComplete = true
        var named: Set<Identifier> = []
        for row in rows {
            for element in row.changed.map(\.before) + row.deleted {
                named.insert(Identifier(element.id))
                if !self.collect(.element, element.id, room, into: &needs) { isComplete = false }
            }
            for parent in row.changed.compactMap(\.before.parentId)
            where !self.collect(.element, parent, room, into: &needs) {
                isComplete = false
            }
            for parent in row.deleted.compactMap(\.parentId)
            where !self.collect(.annotated, parent, room, into: &needs) {
                isComplete = false
            }
        }
        let created = Set(rows.flatMap(\.created).map { Identifier($0.id) })
        let others = named.subtracting(created).count
        let families = self.collectFamilies(
            created.sorted().map { ElementKey(room, $0) }, others: others, into: &needs)
        return isComplete || families == .tooMany ? families : .incomplete
    }

    /// The most bytes of entries whose elements are read before it is their turn.
    private static let bytesBelow = 256 * 1024

    /// Adds the missing elements of the entries below one, as far as these were read with it: no more elements than a commit
    /// may change. It decides nothing: an entry is judged when its turn comes.
    fileprivate mutating func collect(
        below row: UndoRow, in room: Identifier, depth: Int, into needs: inout Needs
    ) {
        var (next, bytes) = (row.next, 0)
        for _ in 0..<depth {
            guard needs.request.elements.count < needs.commitElements,
                let rows = self.undoRows(UndoEntryKey(room, next)), let last = rows.last
            else { return }
            // The last of them may be long, and is parsed whenever something above it is incomplete.
            bytes += rows.reduce(0) { $0 + $1.before.count + $1.after.count }
            guard bytes <= Self.bytesBelow else { return }
            for row in rows.map(UndoneRow.init) {
                for element in row.changed.map(\.before) + row.deleted {
                    _ = self.collect(.element, element.id, room, into: &needs)
                    if let parent = element.parentId { _ = self.collect(.element, parent, room, into: &needs) }
                }
                for element in row.created { _ = self.collect(.element, element.id, room, into: &needs) }
            }
            next = last.next
        }
    }

    private mutating func collect(
        _ scope: NeedScope, _ element: String, _ room: Identifier, into needs: inout Needs
    ) -> Bool {
        self.collect(scope, ElementKey(room, Identifier(element)), into: &needs)
    }
}
