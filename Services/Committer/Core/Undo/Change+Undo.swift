import Canvas
import Wire

extension UndoStacks {
    /// Puts a change on the stack that it belongs to.
    /// - Returns: its place there; nil when it is on none.
    mutating func push(_ change: Change, of commit: PreparedCommit, seq: UInt64, limits: CommitterLimits) -> UndoLink? {
        if let undone = change.undone {
            self.pop(undone.direction, next: undone.next)
            return self.pushReversal(seq, of: undone.direction, limits: limits)
        }
        if !change.hasEffect { return nil }
        return self.push(seq, commit.edit.undo, bytes: change.loggedBytes, limits: limits)
    }
}

extension Change {
    var cause: UpdateCause { self.undone?.direction.cause ?? .edit }

    fileprivate var loggedBytes: Int {
        self.entries.reduce(0) { $0 + ($1.before?.count ?? 0) + $1.json.count }
    }

    var updatedElements: [UpdatedElement] {
        let shape = self.event.shape
        return self.entries.map { entry in
            UpdatedElement(
                id: entry.key.element, json: entry.json, isNew: shape == .changes && entry.before == nil,
                part: shape.part(of: entry.json, changesAnimation: entry.changesAnimation))
        }
    }

    /// The log's text of the elements that exist afterwards.
    var logTextAfter: [UInt8]? {
        let shape = self.event.shape
        return switch shape {
        case .deletion: nil
        case .changes: shape.logText(of: self.entries.filter { !$0.isDeleted }.map(\.json))
        case .element, .flatElement, .elements, .geometries, .animations:
            shape.logText(of: self.entries.lazy.map(\.json))
        }
    }
}
