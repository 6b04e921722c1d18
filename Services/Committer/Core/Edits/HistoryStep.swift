import Canvas
import Wire

/// An edit that takes back a change of its user, or makes it again.
protocol HistoryStep: DecidableEdit, HistoryEdit {
    /// The way through the user's changes.
    static var direction: UndoDirection { get }
}

extension UndoEdit: HistoryStep {
    static let direction = UndoDirection.undo
}

extension RedoEdit: HistoryStep {
    static let direction = UndoDirection.redo
}

extension HistoryStep {
    /// What it needs follows from what the database has: only a first commit is decided on that alone.
    var beginsBatch: Bool { true }

    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {}

    func collect(
        for commit: inout PreparedCommit, rules: RulesTable, in cache: inout ShardCache, into needs: inout Needs
    ) {
        _ = UndoStep(self, of: commit.owner, rules: rules, progress: &commit.undoProgress, &cache, into: &needs)
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        var needs = Needs(shard: 0, limits: draft.limits)
        var progress = commit.undoProgress
        let found = UndoStep(
            self, of: commit.owner, rules: draft.rules, progress: &progress, &cache, into: &needs)
        guard let step = found else {
            throw Refusal(.invalid, "The changes of the user could not be read.")
        }
        draft.keep(step.stacks, of: commit.owner, &cache)
        switch step.finding {
        case .nothing: return Change(event: .transformedMany, entries: [])
        case .reversal(let reversal, let undone):
            var change = reversal.change(
                as: draft.mark(of: commit, &cache), motion: commit.edit.motion, at: draft.time)
            change.undone = undone
            return change
        case .tooLarge(let undone): throw draft.tooManyChanges(undoing: undone)
        case .refused(let refusal): throw refusal
        }
    }
}
