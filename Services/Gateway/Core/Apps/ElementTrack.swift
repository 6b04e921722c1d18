import Canvas
import Timing
import Wire

/// What an app shows of an element while a finger is down.
struct Move {
    let element: Identifier
    /// The app's number of the gesture, if it gives them.
    private(set) var gesture: UInt64?
    private(set) var fields: TransformFields
    /// The deltas that it shows instead of fields.
    private(set) var delta: PreviewDelta?
    /// Its place in a group.
    let group: GroupRole
    /// The number of the app's previews folded into it.
    private(set) var folded: UInt32 = 1

    init(
        element: Identifier, gesture: UInt64?, fields: TransformFields, delta: PreviewDelta? = nil,
        group: GroupRole = .alone
    ) {
        self.element = element
        self.gesture = gesture
        self.fields = fields
        self.delta = delta
        self.group = group
    }

    /// The event that it came by.
    var event: PreviewEvent { self.group != .alone ? .group : self.delta == nil ? .values : .deltas }

    /// The same with a gesture, unless the app has given one.
    func numbered(_ gesture: UInt64) -> Move {
        var move = self
        move.gesture = self.gesture ?? gesture
        return move
    }

    /// Folds a newer one of the same element into it, as ``Preview/fold(_:)`` does. Without a number it belongs to the
    /// gesture under way.
    mutating func fold(_ newer: Move) {
        self.folded += newer.folded
        if newer.gesture == nil || newer.gesture == self.gesture {
            PreviewDelta.fold((newer.fields, newer.delta), onto: &self.fields, &self.delta)
        } else if newer.gesture ?? 0 > self.gesture ?? 0 {
            (self.gesture, self.fields, self.delta) = (newer.gesture, newer.fields, newer.delta)
        }
    }
}

/// What becomes of a preview.
enum PreviewStep {
    /// It is sent on, with what was held back before it.
    case goes(Preview)
    /// It waits for a commit's result or for the rate limit.
    case waits
    /// Too many elements are being moved.
    case dropped
    /// There is nothing new to show.
    case ignored
}

/// What a connection does with one element.
///
///     at rest ──preview──► gesture under way ──commit──► previews wait ──result──► at rest
struct ElementTrack {
    /// The gesture that is under way; nil between gestures.
    private(set) var openGesture: UInt64?
    /// Transform commits on the element without a result: newer previews wait for them.
    private var pendingCommits = 0
    /// The sequence number of the connection's last commit on the element; 0: none.
    private var lastSeq: UInt64 = 0
    /// A preview that is held back, by a pending commit or by the rate limit.
    private(set) var held: Preview?

    var isAtRest: Bool { self.openGesture == nil && self.pendingCommits == 0 && self.held == nil }

    /// True when a preview is held back by the rate limit alone.
    var mayRelease: Bool { self.held != nil && self.pendingCommits == 0 }

    /// Stamps a preview with its gesture, and folds it onto the one that is held back.
    /// - Parameters:
    ///   - preview: its gesture is 0 when the app gives no numbers.
    ///   - isAllowed: whether the rate limit lets it go; only asked when nothing else holds it back.
    mutating func stamp(
        _ preview: Preview, lastGesture: inout UInt64, isAllowed: @autoclosure () -> Bool
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
        let mayGo = self.pendingCommits == 0 && isAllowed()
        self.held = mayGo ? nil : preview
        return mayGo ? .goes(preview) : .waits
    }

    /// Removes the preview that is held back.
    /// - Precondition: ``mayRelease``.
    mutating func release() -> Preview {
        guard var preview = self.held.take() else { preconditionFailure("no preview is held back") }
        preview.after = max(preview.after, self.lastSeq)
        return preview
    }

    /// A commit ends a gesture: the one named, or the one under way. Without either it ends none: the app may give the
    /// next number to a gesture itself.
    /// - Returns: the gesture's number; 0 for none.
    mutating func close(_ explicit: UInt64?) -> UInt64 {
        let gesture = explicit ?? self.openGesture ?? 0
        if let open = self.openGesture, open <= gesture { self.openGesture = nil }
        if let held = self.held, held.gesture <= gesture { self.held = nil }
        self.pendingCommits += 1
        return gesture
    }

    /// A commit has its result, or never will have one here. True when a preview waited for it that may go now.
    mutating func settle(seq: UInt64?) -> Bool {
        self.pendingCommits = max(0, self.pendingCommits - 1)
        if let seq { self.lastSeq = max(self.lastSeq, seq) }
        return self.mayRelease
    }

    /// Ends the gesture under way without a commit; nil when there is none.
    mutating func abandon() -> UInt64? {
        guard let gesture = self.openGesture.take() else { return nil }
        self.held = nil
        return gesture
    }
}
