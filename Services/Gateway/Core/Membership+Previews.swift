import Auth
import Canvas
import Wire

// As for commits: what is asked of a connection and its memberships is asked where they stand.

/// What an app shows of an element while a finger is down.
struct Move {
    let element: Identifier
    /// The app's number of the gesture, if it gives them.
    let gesture: UInt64?
    let fields: TransformFields
}

/// What becomes of a preview.
enum PreviewStep {
    /// It is sent on, with what was held back before it.
    case goes(Preview)
    /// It waits for a commit's result or for the rate limit.
    case waits
    /// Too many elements are in hand.
    case dropped
    /// Another connection took the session over.
    case ignored
}

extension ClientConnection {
    /// Refuses a preview that its user may not show.
    mutating func checkPreview(in room: Identifier) throws(Refusal) {
        guard self.memberships.contains(room) else {
            throw Refusal(.forbidden, "The connection has not joined this room.", field: "roomId")
        }
        guard self.identity.may(.preview, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to show previews in this room.", field: "roomId")
        }
    }

    /// Takes what the app shows: stamped with its gesture, folded onto what is held back.
    mutating func take(_ move: Move, in room: Identifier, at now: UInt64) -> PreviewStep {
        let user = self.identity.member.user
        return self.memberships[room]?.take(
            move, in: room, by: (self.id, user), limit: &self.previewBucket, at: now) ?? .ignored
    }
}

extension Membership {
    fileprivate mutating func take(
        _ move: Move, in room: Identifier, by mover: (connection: UInt64, user: Identifier),
        limit: inout TokenBucket, at now: UInt64
    ) -> PreviewStep {
        guard self.ownsSession else { return .ignored }
        guard self.elements.count < Self.maxOpenTracks || self.elements[move.element] != nil else { return .dropped }
        defer { self.trimTracks() }
        return self.elements[move.element, default: ElementTrack()].take(
            Preview(
                room: room, element: move.element, connection: mover.connection, user: mover.user, sid: self.sid,
                gesture: move.gesture ?? 0, after: 0, fields: move.fields),
            lastGesture: &self.lastGesture, limit: &limit, at: now)
    }
}

extension ElementTrack {
    /// Gives a preview its place.
    /// - Parameter preview: its gesture is 0 when the app gives no numbers.
    fileprivate mutating func take(
        _ preview: Preview, lastGesture: inout UInt64, limit: inout TokenBucket, at now: UInt64
    ) -> PreviewStep {
        var preview = preview
        if preview.gesture == 0 { preview.gesture = self.openGesture ?? lastGesture + 1 }
        lastGesture = max(lastGesture, preview.gesture)
        self.openGesture = preview.gesture
        preview.after = self.lastSeq
        if var held = self.held.take() {
            held.fold(preview)
            preview = held
        }
        let mayGo = self.pendingCommits == 0 && limit.take(at: now)
        self.held = mayGo ? nil : preview
        return mayGo ? .goes(preview) : .waits
    }
}
