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
    /// It waits for a commit's result.
    case waitsForResult
    /// It waits for the rate limit.
    case waitsForRate
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
    /// A preview in memory of its own: few tracks hold one back, and it is several times as large as the rest of a track.
    private indirect enum HeldPreview { case preview(Preview) }
    private var heldPreview: HeldPreview?
    /// True while it has a place among those that wait for the rate limit, even if it waits no more.
    private var isQueued = false

    /// About the bytes of a track: its share of a hash table, which is half full on average, its id, and its place among
    /// those that wait.
    static let bytes = 2 * (MemoryLayout<Identifier>.stride + MemoryLayout<Self>.stride) + 112
    /// About the bytes of a preview that is held back.
    static let previewBytes = MemoryLayout<Preview>.stride + 32

    /// A preview that is held back, by a pending commit or by the rate limit.
    var held: Preview? { if case .preview(let preview)? = self.heldPreview { preview } else { nil } }

    private var isHolding: Bool { self.heldPreview != nil }

    /// True when nothing would be lost with it.
    var isAtRest: Bool {
        self.openGesture == nil && self.pendingCommits == 0 && !self.isHolding && !self.isQueued
    }

    /// True when a preview is held back by the rate limit alone.
    var mayRelease: Bool { self.isHolding && self.pendingCommits == 0 }

    /// The gesture of the group that the preview belongs to that is held back; nil for one alone.
    var heldGroup: UInt64? { self.held.flatMap { $0.group == .alone ? nil : $0.gesture } }

    /// Stamps a preview with its gesture, and folds it onto the one that is held back.
    /// - Parameters:
    ///   - preview: its gesture is 0 when the app gives no numbers.
    ///   - heldCount: the number of tracks that hold a preview back.
    ///   - isAllowed: whether the rate limit lets it go; only asked when nothing else holds it back.
    mutating func stamp(
        _ preview: Preview, lastGesture: inout UInt64, heldCount: inout Int, isAllowed: @autoclosure () -> Bool
    ) -> PreviewStep {
        var preview = preview
        if preview.gesture == 0 { preview.gesture = self.openGesture ?? lastGesture + 1 }
        lastGesture = max(lastGesture, preview.gesture)
        self.openGesture = preview.gesture
        preview.after = self.lastSeq
        if var held = self.takeHeld(&heldCount) {
            held.fold(preview)
            preview = held
        }
        guard self.pendingCommits == 0, isAllowed() else {
            self.heldPreview = .preview(preview)
            heldCount += 1
            return self.pendingCommits > 0 ? .waitsForResult : .waitsForRate
        }
        return .goes(preview)
    }

    private mutating func takeHeld(_ heldCount: inout Int) -> Preview? {
        guard case .preview(let preview)? = self.heldPreview.take() else { return nil }
        heldCount -= 1
        return preview
    }

    /// Takes a place among those that wait for the rate limit; false when it has one, or does not wait for that.
    mutating func joinQueue() -> Bool {
        guard self.mayRelease, !self.isQueued else { return false }
        self.isQueued = true
        return true
    }

    /// Its place is taken away: it waits no more, or waits for a commit's result.
    mutating func leaveQueue() { self.isQueued = false }

    /// Removes the preview that is held back, as its turn has come.
    /// - Precondition: ``mayRelease``.
    mutating func release(heldCount: inout Int) -> Preview {
        guard var preview = self.takeHeld(&heldCount) else { preconditionFailure("no preview is held back") }
        self.isQueued = false
        preview.after = max(preview.after, self.lastSeq)
        return preview
    }

    /// A commit ends a gesture: the one named, or the one under way. Without either it ends none: the app may give the
    /// next number to a gesture itself.
    /// - Returns: the gesture's number; 0 for none.
    mutating func close(_ explicit: UInt64?, heldCount: inout Int) -> UInt64 {
        let gesture = explicit ?? self.openGesture ?? 0
        if let open = self.openGesture, open <= gesture { self.openGesture = nil }
        if let held = self.held, held.gesture <= gesture { _ = self.takeHeld(&heldCount) }
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
    mutating func abandon(heldCount: inout Int) -> UInt64? {
        guard let gesture = self.openGesture.take() else { return nil }
        _ = self.takeHeld(&heldCount)
        return gesture
    }
}
