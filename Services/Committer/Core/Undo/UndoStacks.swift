package import Wire

/// What one user can undo and redo in one room: two stacks, which are linked lists through the commit log.
///
///     undo ──► row 9 ─┐ one entry: commits of one group
///              row 8 ◄┘──► row 5 ──► …          redo ──► row 7, which undid row 6 ──► …
///
/// An undo pops the top entry and is committed as a change that reverses it; that row goes on top of the redo stack. A
/// redo is the same the other way round. A new commit empties the redo stack, unless it changes nothing. An entry that
/// cannot be taken back now stays.
package struct UndoStacks: Equatable, Sendable {
    /// A stack: its newest row and its number of entries. Rows below the last entry are out of reach.
    package struct Stack: Equatable, Sendable {
        /// The room's number of the newest row of the top entry.
        package var head: UInt64
        package var depth: Int

        package init(head: UInt64 = 0, depth: Int = 0) {
            self.head = head
            self.depth = depth
        }

        /// Puts a row on top, as an entry of its own. The oldest entry is out of reach beyond `limit`.
        mutating func push(_ seq: UInt64, limit: Int) -> UndoLink {
            let link = UndoLink(next: self.depth > 0 ? self.head : 0, rest: 0)
            self = Stack(head: seq, depth: min(self.depth + 1, limit))
            return link
        }

        /// Removes the top entry.
        /// - Parameter next: the row beneath its last one.
        mutating func pop(next: UInt64) {
            self = self.depth > 1 && next > 0 ? Stack(head: next, depth: self.depth - 1) : Stack()
        }
    }

    /// The top entry of the undo stack while further commits of its group may join it.
    package struct OpenGroup: Equatable, Sendable {
        package var name: Identifier
        /// The number of its rows, and the size of their elements before and after, bytes.
        package var rows, bytes: Int

        package init(name: Identifier, rows: Int, bytes: Int) {
            self.name = name
            self.rows = rows
            self.bytes = bytes
        }
    }

    package var undo = Stack()
    /// The undos since the user's last change.
    package var redo = Stack()
    /// The group that the newest change belongs to.
    package var group: OpenGroup?

    package init() {}

    /// The stack that a command takes its entry from.
    func stack(for direction: UndoDirection) -> Stack {
        direction == .undo ? self.undo : self.redo
    }

    /// A new change of the user.
    /// - Parameter bytes: the size of its elements before and after.
    /// - Returns: the row's place; nil when it is on no stack.
    mutating func push(_ seq: UInt64, _ policy: UndoPolicy, bytes: Int, limits: CommitterLimits) -> UndoLink? {
        if policy == .none || limits.undoDepth == 0 { return nil }
        self.redo = Stack()
        guard case .group(let name) = policy else {
            self.group = nil
            return self.undo.push(seq, limit: limits.undoDepth)
        }
        if var group = self.group, group.name == name, group.bytes + bytes <= limits.undoEntryBytes {
            let link = UndoLink(next: self.undo.head, rest: group.rows)
            self.undo.head = seq
            group.rows += 1
            group.bytes += bytes
            self.group = group
            return link
        }
        self.group = OpenGroup(name: name, rows: 1, bytes: bytes)
        return self.undo.push(seq, limit: limits.undoDepth)
    }

    /// Removes the top entry of a stack.
    /// - Parameter next: the row beneath its last one.
    mutating func pop(_ direction: UndoDirection, next: UInt64) {
        self.group = nil
        switch direction {
        case .undo: self.undo.pop(next: next)
        case .redo: self.redo.pop(next: next)
        }
    }

    /// Puts the row of an undo on the redo stack, or that of a redo on the undo stack.
    mutating func pushReversal(_ seq: UInt64, of direction: UndoDirection, limits: CommitterLimits) -> UndoLink {
        switch direction {
        case .undo: self.redo.push(seq, limit: limits.undoDepth)
        case .redo: self.undo.push(seq, limit: limits.undoDepth)
        }
    }
}

/// Which way a command goes through its user's changes.
package enum UndoDirection: Sendable {
    case undo, redo

    var cause: UpdateCause { self == .undo ? .undo : .redo }

    /// The command, as refusals name it.
    var name: String { self == .undo ? "undo" : "redo" }
}

/// A log row's place in its user's stack.
package struct UndoLink: Equatable, Sendable {
    /// The row beneath it; 0: none.
    package var next: UInt64
    /// How many of the rows beneath belong to the same entry.
    package var rest: Int
}

/// A row of the log as part of an entry.
package struct UndoRow: Equatable, Sendable {
    /// The room's number of the change.
    package var seq: UInt64
    package var event: UpdateEvent
    /// Its elements before and after as JSON texts, empty where the log has none.
    package var before, after: [UInt8]
    /// The row beneath it in the stack; 0: none.
    package var next: UInt64
    /// The bytes of its texts.
    var bytes: Int { self.before.count + self.after.count }

    package init(seq: UInt64, event: UpdateEvent, before: [UInt8], after: [UInt8], next: UInt64) {
        self.seq = seq
        self.event = event
        self.before = before
        self.after = after
        self.next = next
    }
}
