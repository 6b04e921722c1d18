import Canvas
import Timing
import Wire

/// What an app says of its person.
enum AttentionChange {
    /// The mouse or finger points there; nil: nowhere.
    case cursor(Point?)
    /// These elements are selected.
    case selection([Identifier])
}

/// What an app points at and has selected in one room: the latest state, and how much of it waits for the rate limit.
struct AttentionTrack {
    private var cursor: Point?
    private var selection: [Identifier] = [] {
        didSet { self.selectionBytes = Attention(sid: "", selection: self.selection).selectionBytes }
    }
    /// Roughly the bytes of what is selected.
    private(set) var selectionBytes = 0
    /// Grows with every change, and with time: what a later membership of the same connection shows is newer.
    private var version: UInt64
    /// Cursors that were folded since the last one was sent.
    private var heldCursors: UInt32 = 0
    private var isSelectionHeld = false
    /// True when the selection was sent after the cursor.
    private var wasSelectionLast = false

    /// What nobody has changed since then is newer than what an earlier membership of the same connection showed.
    init(since now: Instant) { self.version = Self.version(at: now) }

    private static func version(at now: Instant) -> UInt64 { now.elapsed(since: .start).milliseconds << 10 }

    /// True while something waits for the rate limit.
    var isHeld: Bool { self.heldCursors > 0 || self.isSelectionHeld }

    /// What others should see.
    func state(sid: Identifier) -> Attention {
        Attention(sid: sid, cursor: self.cursor, selection: self.selection, version: self.version)
    }

    /// Notes a change, which waits until it is released.
    mutating func change(_ change: AttentionChange, at now: Instant) {
        self.version = max(self.version + 1, Self.version(at: now))
        switch change {
        case .cursor(let cursor):
            self.cursor = cursor
            self.heldCursors = min(self.heldCursors, .max - 1) + 1
        case .selection(let selection):
            self.selection = selection
            self.isSelectionHeld = true
        }
    }

    /// A fan-out may have forgotten what was sent: it is sent again, unless it is nothing.
    mutating func sendAgain() {
        if self.cursor != nil { self.heldCursors = max(1, self.heldCursors) }
        if !self.selection.isEmpty { self.isSelectionHeld = true }
        if self.isHeld { self.version += 1 }
    }

    /// A new session begins: nothing is shown.
    mutating func reset() {
        (self.cursor, self.selection, self.heldCursors, self.isSelectionHeld) = (nil, [], 0, false)
    }

    /// Removes the cursor or the selection, whichever waits. If both do they go by turns, so that neither keeps the other
    /// waiting.
    mutating func releaseNext(
        in room: Identifier, by mover: (connection: UInt64, user: Identifier), sid: Identifier
    ) -> Preview? {
        if self.wasSelectionLast {
            return self.releaseCursor(in: room, by: mover, sid: sid)
                ?? self.releaseSelection(in: room, by: mover, sid: sid)
        }
        return self.releaseSelection(in: room, by: mover, sid: sid) ?? self.releaseCursor(in: room, by: mover, sid: sid)
    }

    /// Removes the cursor that waits.
    mutating func releaseCursor(
        in room: Identifier, by mover: (connection: UInt64, user: Identifier), sid: Identifier
    ) -> Preview? {
        guard self.heldCursors > 0 else { return nil }
        var preview = Preview.cursor(
            self.cursor, in: room, connection: mover.connection, user: mover.user, sid: sid, version: self.version)
        preview.folded = self.heldCursors
        self.heldCursors = 0
        self.wasSelectionLast = false
        return preview
    }

    /// Removes the selection that waits.
    mutating func releaseSelection(
        in room: Identifier, by mover: (connection: UInt64, user: Identifier), sid: Identifier
    ) -> Preview? {
        guard self.isSelectionHeld else { return nil }
        self.isSelectionHeld = false
        self.wasSelectionLast = true
        return .selection(
            self.selection, in: room, connection: mover.connection, user: mover.user, sid: sid, version: self.version)
    }
}
