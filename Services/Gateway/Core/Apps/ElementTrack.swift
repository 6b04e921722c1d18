import Canvas
import Timing
import Wire

/// What a gesture shows of an element by now: all that it has moved so far.
struct GestureProgress {
    /// The latest value of each field.
    private(set) var fields: TransformFields
    /// The deltas that it shows instead of values.
    private(set) var delta: PreviewDelta?

    init(fields: TransformFields, delta: PreviewDelta? = nil) {
        (self.fields, self.delta) = (fields, delta)
    }

    /// Adds what a newer preview of the gesture shows: values merge, deltas merge, and values end deltas as deltas do
    /// values.
    mutating func add(_ newer: GestureProgress) {
        if newer.delta == nil, self.delta == nil { return self.fields.merge(newer.fields) }
        self.fields = newer.fields
        self.delta = newer.delta.map { self.delta?.merged(with: $0) ?? $0 }
    }
}

/// What an app shows of an element while a finger is down.
struct Move {
    let element: Identifier
    /// The app's number of the gesture, if it gives them.
    private(set) var gesture: UInt64?
    private(set) var progress: GestureProgress
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
        self.progress = GestureProgress(fields: fields, delta: delta)
        self.group = group
    }

    /// The event that it came by.
    var event: PreviewEvent { self.group != .alone ? .group : self.progress.delta == nil ? .values : .deltas }

    /// The same with a gesture, unless the app has given one.
    func numbered(_ gesture: UInt64) -> Move {
        var move = self
        move.gesture = self.gesture ?? gesture
        return move
    }

    /// Adds a newer one of the same element. Without a number it belongs to the gesture under way.
    mutating func add(_ newer: Move) {
        self.folded += newer.folded
        if newer.gesture == nil || newer.gesture == self.gesture {
            self.progress.add(newer.progress)
        } else if newer.gesture ?? 0 > self.gesture ?? 0 {
            (self.gesture, self.progress) = (newer.gesture, newer.progress)
        }
    }
}

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
    /// How many tracks of a membership have a gesture under way, and how many hold a preview back.
    struct Counts: Equatable {
        var open = 0, held = 0
    }

    /// The gesture that is under way, in memory of its own: most tracks have none.
    private final class OpenGesture {
        let number: UInt64
        var progress: GestureProgress

        init(_ number: UInt64, _ progress: GestureProgress) { (self.number, self.progress) = (number, progress) }
    }
    private var open: OpenGesture?
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
    /// About the bytes of a gesture that is under way, and of a preview that is held back.
    static let gestureBytes = MemoryLayout<GestureProgress>.stride + 48
    static let previewBytes = MemoryLayout<Preview>.stride + 32

    /// The gesture that is under way; nil between gestures.
    var openGesture: UInt64? { self.open?.number }

    /// A preview that is held back, by a pending commit or by the rate limit.
    var held: Preview? { if case .preview(let preview)? = self.heldPreview { preview } else { nil } }

    private var isHolding: Bool { self.heldPreview != nil }

    /// True when nothing would be lost with it.
    var isAtRest: Bool {
        self.open == nil && self.pendingCommits == 0 && !self.isHolding && !self.isQueued
    }

    /// True when a preview is held back by the rate limit alone.
    var mayRelease: Bool { self.isHolding && self.pendingCommits == 0 }

    /// The gesture of the group that the preview belongs to that is held back; nil for one alone.
    var heldGroup: UInt64? { self.held.flatMap { $0.group == .alone ? nil : $0.gesture } }

    /// Stamps a preview with its gesture, and makes it complete: it shows all that the gesture has moved so far, and takes
    /// the place of the one that is held back.
    /// - Parameters:
    ///   - preview: its gesture is 0 when the app gives no numbers.
    ///   - isAllowed: whether the rate limit lets it go; only asked when nothing else holds it back.
    mutating func stamp(
        _ preview: Preview, lastGesture: inout UInt64, _ counts: inout Counts, isAllowed: @autoclosure () -> Bool
    ) -> PreviewStep {
        var preview = preview
        if preview.gesture == 0 { preview.gesture = self.openGesture ?? lastGesture + 1 }
        lastGesture = max(lastGesture, preview.gesture)
        self.complete(&preview, &counts)
        preview.after = self.lastSeq
        if var held = self.takeHeld(&counts) {
            held.replace(by: preview)
            preview = held
        }
        guard self.pendingCommits == 0, isAllowed() else {
            self.heldPreview = .preview(preview)
            counts.held += 1
            return self.pendingCommits > 0 ? .waitsForResult : .waitsForRate
        }
        return .goes(preview)
    }

    /// Adds a preview to what its gesture shows, and shows all of that.
    private mutating func complete(_ preview: inout Preview, _ counts: inout Counts) {
        let news = GestureProgress(fields: preview.fields, delta: preview.delta)
        guard self.openGesture == preview.gesture else {
            if self.open == nil { counts.open += 1 }
            self.open = OpenGesture(preview.gesture, news)
            return
        }
        // A copy of the track has its own.
        if !isKnownUniquelyReferenced(&self.open) {
            self.open = self.open.map { OpenGesture($0.number, $0.progress) }
        }
        self.open?.progress.add(news)
        if let progress = self.open?.progress { (preview.fields, preview.delta) = (progress.fields, progress.delta) }
    }

    private mutating func endOpen(_ counts: inout Counts) {
        if self.open.take() != nil { counts.open -= 1 }
    }

    private mutating func takeHeld(_ counts: inout Counts) -> Preview? {
        guard case .preview(let preview)? = self.heldPreview.take() else { return nil }
        counts.held -= 1
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
    mutating func release(_ counts: inout Counts) -> Preview {
        guard var preview = self.takeHeld(&counts) else { preconditionFailure("no preview is held back") }
        self.isQueued = false
        preview.after = max(preview.after, self.lastSeq)
        return preview
    }

    /// A commit ends a gesture: the one named, or the one under way. Without either it ends none: the app may give the
    /// next number to a gesture itself.
    /// - Returns: the gesture's number; 0 for none.
    mutating func close(_ explicit: UInt64?, _ counts: inout Counts) -> UInt64 {
        let gesture = explicit ?? self.openGesture ?? 0
        if let open = self.openGesture, open <= gesture { self.endOpen(&counts) }
        if let held = self.held, held.gesture <= gesture { _ = self.takeHeld(&counts) }
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
    mutating func abandon(_ counts: inout Counts) -> UInt64? {
        guard let gesture = self.openGesture else { return nil }
        self.endOpen(&counts)
        _ = self.takeHeld(&counts)
        return gesture
    }
}
