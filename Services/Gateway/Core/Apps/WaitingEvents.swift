import Canvas
import Wire

/// Events of a room that came while a join of it was in flight, in order. They are handled after its answer.
///
/// Previews ask for no answer and do not use up the space of events that do: those of one element are folded, up to the
/// next event of another kind.
struct WaitingEvents {
    enum Event {
        /// Any but a preview, as it came.
        case event(json: [UInt8], ackID: UInt64?, isBinary: Bool)
        /// Previews of one element, folded.
        case preview(Move)
    }

    private(set) var events: [Event] = []
    /// The latest event that moves a cursor; it is handled last.
    private(set) var cursor: [UInt8]?
    /// Bytes of all events but previews.
    private(set) var bytes = 0
    private var previewCount = 0

    /// About the bytes that are kept for all of them.
    var heldBytes: Int { self.bytes + self.events.count * Self.eventBytes }
    /// About those of an event besides its text: its share of an array that has grown, and the head of its text.
    static let eventBytes = 2 * MemoryLayout<Event>.stride + 32

    /// Events that may wait, previews not counted.
    static let maxEvents = 64
    /// Elements, or gestures between two events, whose previews may wait.
    static let maxPreviews = 64

    /// Adds an event; false when too many wait.
    mutating func append(_ json: [UInt8], ackID: UInt64?, isBinary: Bool = false) -> Bool {
        guard self.events.count - self.previewCount < Self.maxEvents else { return false }
        self.bytes += json.count
        self.events.append(.event(json: json, ackID: ackID, isBinary: isBinary))
        return true
    }

    /// An event that moves a cursor comes in place of an older one.
    mutating func replaceCursor(_ json: [UInt8]) {
        self.bytes += json.count - (self.cursor?.count ?? 0)
        self.cursor = json
    }

    /// Adds a preview; false when those of too many elements wait.
    mutating func append(_ move: Move) -> Bool {
        for index in self.events.indices.reversed() {
            guard case .preview(var waiting) = self.events[index] else { break }
            guard waiting.element == move.element else { continue }
            waiting.add(move)
            self.events[index] = .preview(waiting)
            return true
        }
        guard self.previewCount < Self.maxPreviews else { return false }
        self.previewCount += 1
        self.events.append(.preview(move))
        return true
    }
}
