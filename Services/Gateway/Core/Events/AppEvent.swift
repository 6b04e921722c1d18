import JSONBytes
import Timing
import Wire

/// The events that apps send.
enum AppEvent {
    case roomJoin
    case roomLeave
    case preview(PreviewEvent)
    case authRefresh
    case awareness(AwarenessEvent)
    /// The app sees a part of a room's canvas only.
    case viewport
    /// The app tells the others in a room something in passing.
    case signal
    /// The app asks whether its connection lives.
    case ping
    /// An edit: a commit asks for it.
    case edit(EditKind)

    private static let controls: [(name: String, event: AppEvent)] = [
        (PreviewEvent.deltas.rawValue, .preview(.deltas)),
        (PreviewEvent.group.rawValue, .preview(.group)), ("room:join", .roomJoin), ("room:leave", .roomLeave),
        (AwarenessEvent.cursor.rawValue, .awareness(.cursor)),
        (AwarenessEvent.selection.rawValue, .awareness(.selection)),
        (AwarenessEvent.state.rawValue, .awareness(.state)), ("viewport:set", .viewport),
        ("room:signal", .signal),
        ("auth:refresh", .authRefresh),
        ("client:ping", .ping),
    ]

    /// The event of that name.
    init?(_ name: JSONValue) {
        // The most frequent ones first.
        if name.isString(PreviewEvent.values.rawValue) {
            self = .preview(.values)
        } else if let kind = allEdits.kind(ofEvent: name) {
            self = .edit(kind)
        } else if let control = Self.controls.first(where: { name.isString($0.name) }) {
            self = control.event
        } else {
            return nil
        }
    }

    var name: String {
        switch self {
        case .roomJoin: "room:join"
        case .roomLeave: "room:leave"
        case .preview(let event): event.rawValue
        case .awareness(let event): event.rawValue
        case .viewport: "viewport:set"
        case .signal: "room:signal"
        case .authRefresh: "auth:refresh"
        case .ping: "client:ping"
        case .edit(let kind): kind.traits.event
        }
    }

    var isCommit: Bool {
        if case .edit = self { return true }
        return false
    }
}

/// The events by which apps show what they move.
enum PreviewEvent: String {
    case values = "element:transforming"
    /// What fingers did to an element since they touched it.
    case deltas = "element:gesturing"
    /// The same for a group about a pivot.
    case group = "elements:gesturing"
}

/// The events by which apps show something of their people.
enum AwarenessEvent: String {
    /// Where the mouse or finger points.
    case cursor = "cursor:moving"
    /// Which elements are selected.
    case selection = "selection:set"
    /// What the app itself shows.
    case state = "presence:set"
}

/// Where an event came from, and so where its answer goes.
struct EventOrigin {
    let slot: Slot
    /// The acknowledgement that the app asks for; nil: none.
    let ackID: UInt64?
    /// The event's name.
    let event: String
}

/// One event while it is handled.
struct IncomingEvent {
    let slot: Slot
    let ackID: UInt64?
    let event: AppEvent
    let payload: JSONValue
    /// What is wrong with it although it is well-formed JSON: a limit is exceeded, a text cannot be stored, a number is too
    /// long or too large, a field is given twice, or it has attachments.
    let fault: Refusal?
    /// The text that it was read from.
    let json: [UInt8]
    /// True when attachments belong to it.
    let isBinary: Bool
    let now: Instant

    var origin: EventOrigin { EventOrigin(slot: self.slot, ackID: self.ackID, event: self.event.name) }

    /// Whether its fault is found again when it is read as a commit, as it uses up the commit's number: unless the fault is
    /// in what says which number that is.
    var isFaultOfCommit: Bool { self.event.isCommit && !["n", "roomId"].contains(self.fault?.field) }

    /// The room that it names.
    /// - Parameter only: the one that it means when it names none.
    func room(unlessNamed only: Identifier?) throws(Refusal) -> Identifier {
        guard let value = self.payload["roomId"] else {
            if let only { return only }
            throw Refusal(.invalid, "A room id is required.", field: "roomId")
        }
        guard let text = value.string else {
            throw Refusal(.invalid, "A room id is a string.", field: "roomId")
        }
        return try RoomID.parse(text)
    }
}

/// A text that is no event of the contract.
struct UnreadableEvent: Error {
    let refusal: Refusal
    /// The name that it gives itself.
    var event = ""
    /// False when it is no event at all, which counts against the connection.
    var isEvent = true
}
