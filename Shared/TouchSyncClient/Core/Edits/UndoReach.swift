/// Whether this user has something to undo and to redo in a room, as far as the client knows.
struct UndoReach: Sendable {
    /// Edits of earlier sessions can be undone, too: only the server can find that there are none.
    private(set) var canUndo = true
    /// Of what was undone before this client came nothing is known.
    private(set) var canRedo = false

    /// A change of this user was applied, from whatever device.
    /// - Parameter cause: `undo`, `redo`, or nil for an edit, after which nothing is left to redo.
    mutating func applied(cause: String?) {
        if cause == "undo" { self.canRedo = true } else { self.canUndo = true }
        if cause == nil { self.canRedo = false }
    }

    /// The server found nothing to undo, or to redo.
    mutating func foundNothing(by event: String) {
        if event == "history:undo" { self.canUndo = false } else { self.canRedo = false }
    }
}
