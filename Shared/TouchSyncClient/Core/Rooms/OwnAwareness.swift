import Canvas
import JSONBytes

/// What this user shows in a room, and its viewport. All is sent again after each join; all but selections at most once in an
/// interval.
struct OwnAwareness: Sendable {
    private let address: RoomAddress
    /// Whether anything may be sent: the room is joined.
    private var isOpen = false
    /// Where this user points; nil: nowhere.
    private var cursor: Point?
    /// Nil as long as nothing was selected.
    private var selection: [String]?
    /// The part of the canvas that this user sees; nil for everything.
    private(set) var viewport: Rect?
    private var sharesViewport = false
    /// The text of a JSON object; nil as long as there was none.
    private var state: String?
    /// What is sent at most once in an interval, and when it may be: of parts of which something was sent over this
    /// connection.
    private enum Part: CaseIterable { case cursor, viewport, state }
    private var paces: [Part: AwarenessPace] = [:]

    init(in address: RoomAddress) {
        self.address = address
    }

    /// When a waiting cursor, viewport or state is to be sent, ms.
    var deadline: Int64? { self.paces.values.compactMap(\.dueAt).min() }

    // MARK: The app

    /// - Parameter interval: the shortest time between two cursors, ms; so everywhere here.
    mutating func pointed(_ point: Point?, interval: Int64, _ outbox: inout ClientOutbox) {
        self.cursor = point
        self.offer(.cursor, interval, &outbox)
    }

    mutating func selected(_ elementIds: [String], _ outbox: inout ClientOutbox) {
        self.selection = elementIds
        self.sendSelection(&outbox)
    }

    mutating func looked(
        _ viewport: Rect?, isShared: Bool = false, interval: Int64, _ outbox: inout ClientOutbox
    ) {
        self.viewport = viewport
        self.sharesViewport = isShared
        self.offer(.viewport, interval, &outbox)
    }

    mutating func presented(_ state: String, interval: Int64, _ outbox: inout ClientOutbox) {
        self.state = state
        self.offer(.state, interval, &outbox)
    }

    // MARK: The room

    /// The room is joined, whose members know nothing of this user. That there is no cursor or viewport any more is said if
    /// there was one over this connection.
    mutating func joined(interval: Int64, _ outbox: inout ClientOutbox) {
        self.isOpen = true
        if self.cursor != nil || self.paces[.cursor] != nil { self.offer(.cursor, interval, &outbox) }
        if self.selection != nil { self.sendSelection(&outbox) }
        if self.viewport != nil || self.paces[.viewport] != nil { self.offer(.viewport, interval, &outbox) }
        if self.state != nil { self.offer(.state, interval, &outbox) }
    }

    mutating func joinBegan() {
        self.isOpen = false
    }

    /// The next connection knows nothing of this user.
    mutating func connectionLost() {
        self.isOpen = false
        self.paces = [:]
    }

    /// A cursor, a viewport and a state may have waited until now.
    mutating func timeReached(interval: Int64, _ outbox: inout ClientOutbox) {
        for part in Part.allCases where self.paces[part]?.due(at: outbox.now, interval: interval) == true {
            self.send(part, &outbox)
        }
    }

    /// The server took something not. Of viewports that it refused for now, the latest one is sent later; all else the app
    /// hears of.
    mutating func refused(_ error: ClientError, isViewport: Bool, _ outbox: inout ClientOutbox) {
        guard isViewport, let retryAfter = error.retryAfter else { return outbox.tell(.refused(error)) }
        self.paces[.viewport]?.refused(at: outbox.now, retryAfter: retryAfter)
    }

    // MARK: Sending

    private mutating func offer(_ part: Part, _ interval: Int64, _ outbox: inout ClientOutbox) {
        guard self.isOpen else { return }
        if self.paces[part, default: AwarenessPace()].offer(at: outbox.now, interval: interval) {
            self.send(part, &outbox)
        }
    }

    private func send(_ part: Part, _ outbox: inout ClientOutbox) {
        guard self.isOpen else { return }
        switch part {
        case .cursor:
            self.address.send("cursor:moving", &outbox) { writer in
                writer.member("x", self.cursor?.x)
                writer.member("y", self.cursor?.y)
            }
        case .viewport: self.sendViewport(&outbox)
        case .state:
            guard let state = self.state else { return }
            self.ask("presence:set", &outbox) { writer in
                writer.key("state")
                writer.raw(Array(state.utf8))
            }
        }
    }

    private func sendSelection(_ outbox: inout ClientOutbox) {
        guard self.isOpen else { return }
        self.ask("selection:set", &outbox) { writer in
            writer.member("elementIds", self.selection ?? [])
        }
    }

    private func sendViewport(_ outbox: inout ClientOutbox) {
        self.ask("viewport:set", isViewport: true, &outbox) { writer in
            if let viewport = self.viewport {
                writer.member("x", viewport.origin.x)
                writer.member("y", viewport.origin.y)
                writer.member("width", viewport.size.width)
                writer.member("height", viewport.size.height)
            }
            if self.sharesViewport { writer.member("share", true) }
        }
    }

    private func ask(
        _ event: String, isViewport: Bool = false, _ outbox: inout ClientOutbox, _ members: (inout JSONWriter) -> Void
    ) {
        let subject = RequestSubject.awareness(room: self.address.serial, isViewport: isViewport)
        self.address.ask(event, about: subject, &outbox, members)
    }
}

/// Throttles a value of which only the latest counts: it is sent at most once in an interval, and the last one always.
struct AwarenessPace: Sendable {
    /// The earliest time of the next send, ms; nil until something was sent.
    private var nextSlot: Int64?
    /// When a waiting value is to be sent, ms.
    private(set) var dueAt: Int64?

    /// There is a new value.
    /// - Returns: whether it may be sent now; otherwise it waits.
    mutating func offer(at now: Int64, interval: Int64) -> Bool {
        if let nextSlot, now < nextSlot {
            self.dueAt = nextSlot
            return false
        }
        self.told(at: now, interval: interval)
        return true
    }

    /// Whether a waiting value is due, which is to be sent then.
    mutating func due(at now: Int64, interval: Int64) -> Bool {
        guard let dueAt, now >= dueAt else { return false }
        self.told(at: now, interval: interval)
        return true
    }

    /// The server refused a value for now: the latest one is sent after `retryAfter` ms.
    mutating func refused(at now: Int64, retryAfter: Int64) {
        self.nextSlot = now.plus(retryAfter)
        self.dueAt = self.nextSlot
    }

    private mutating func told(at now: Int64, interval: Int64) {
        self.nextSlot = now.plus(interval)
        self.dueAt = nil
    }
}
