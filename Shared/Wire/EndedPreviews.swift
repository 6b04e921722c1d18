/// The previews of one element that must no longer be shown: those of one session up to a gesture, or those of all
/// sessions once the element is deleted.
public struct EndedPreviews: Equatable, Sendable {
    public var room: Identifier
    public var element: Identifier
    /// The public name of the session whose gestures ended; nil: all sessions.
    public var sid: Identifier?
    /// The newest ended gesture of the session; older ones ended with it.
    public var gesture: UInt64

    /// The previews of one session's gestures up to `gesture`.
    @inlinable
    public init(room: Identifier, element: Identifier, sid: Identifier, gesture: UInt64) {
        self.room = room
        self.element = element
        self.sid = sid
        self.gesture = gesture
    }

    /// The previews of all sessions on a deleted element.
    @inlinable
    public init(room: Identifier, deleted element: Identifier) {
        self.room = room
        self.element = element
        self.sid = nil
        self.gesture = .max
    }

    /// True for a preview that must no longer be shown.
    @inlinable
    public func includes(_ preview: Preview) -> Bool {
        guard preview.element == self.element, preview.room == self.room else { return false }
        guard let sid = self.sid else { return true }
        return preview.sid == sid && preview.gesture <= self.gesture
    }
}

extension Update {
    public var endedPreviews: [EndedPreviews] {
        self.entries.compactMap { entry in
            if entry.isDeleted { return EndedPreviews(room: self.room, deleted: entry.id) }
            guard entry.gesture > 0 else { return nil }
            return EndedPreviews(room: self.room, element: entry.id, sid: self.sid, gesture: entry.gesture)
        }
    }
}

extension GestureEnd {
    /// The previews that must not be shown after the gesture's end.
    public var endedPreviews: EndedPreviews {
        EndedPreviews(room: self.room, element: self.element, sid: self.sid, gesture: self.gesture)
    }
}
