/// The closed set of refusal codes, as apps see them; the raw value is the number between daemons.
public enum RefusalCode: UInt8, Sendable, CaseIterable {
    /// A field is missing, of the wrong type, not finite or malformed.
    case invalid = 1
    /// Not joined, no right, or locked; also for rooms that the user may not see.
    case forbidden = 2
    case notFound = 3
    case gone = 4
    /// The id is in use, others' work forbids an undo, or an old number came with a changed body.
    case conflict = 5
    /// A message, group or the extra fields exceed a limit.
    case tooLarge = 6
    case unknownEvent = 7
    /// A commit number was skipped.
    case gap = 8
    case rateLimited = 9
    case busy = 10
    /// No result before the deadline, or a part of the pipeline is down.
    case unavailable = 11
    /// The session is unknown, another user's, taken over or evicted.
    case sessionExpired = 12

    /// The code as apps receive it.
    public var name: String {
        switch self {
        case .invalid: "invalid"
        case .forbidden: "forbidden"
        case .notFound: "not_found"
        case .gone: "gone"
        case .conflict: "conflict"
        case .tooLarge: "too_large"
        case .unknownEvent: "unknown_event"
        case .gap: "gap"
        case .rateLimited: "rate_limited"
        case .busy: "busy"
        case .unavailable: "unavailable"
        case .sessionExpired: "session_expired"
        }
    }

    /// True when the same commit may be retried (the number was not used up).
    public var isRetriable: Bool {
        switch self {
        case .gap, .rateLimited, .busy, .unavailable, .sessionExpired: true
        case .invalid, .forbidden, .notFound, .gone, .conflict, .tooLarge, .unknownEvent: false
        }
    }
}

/// A refusal in full: what an app gets as `error`.
public struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: RefusalCode
    public var message: String
    /// The field at fault, e.g. `elements[3].transform.rotation`.
    public var field: String? { didSet { self.field = self.field.map(Self.cut) } }
    /// When to retry, ms from now.
    public var retryAfterMs: UInt32?
    /// With ``RefusalCode/gap``: the next expected number.
    public var expected: UInt64?
    /// With ``RefusalCode/conflict``: the user whose work an undo or a redo would delete.
    public var by: Identifier?
    /// The entry that an undo or a redo cannot take back now; it stays on its stack.
    public var entry: BlockedEntry?

    /// For people: the message, with the field at fault.
    public var description: String { self.field.map { "\($0): \(self.message)" } ?? self.message }

    /// The longest field, bytes; an app may name its own fields as it likes, and refusals are stored.
    public static let longestField = 256

    /// A refusal. A longer field is cut off.
    public init(
        _ code: RefusalCode, _ message: String, field: String? = nil, retryAfterMs: UInt32? = nil,
        expected: UInt64? = nil, by: Identifier? = nil
    ) {
        self.code = code
        self.message = message
        self.field = field.map(Self.cut)
        self.retryAfterMs = retryAfterMs
        self.expected = expected
        self.by = by
    }
}

/// An entry of a user's undo or redo stack that cannot be taken back now.
public struct BlockedEntry: Equatable, Sendable {
    /// The room's number of its newest change, by which `past` names it.
    public var seq: UInt64
    public var event: UpdateEvent
    /// The elements of its changes, at most ``mostElements``.
    public var elements: [Identifier]

    /// The most elements that are named; refusals are stored.
    public static let mostElements = 500

    public init(seq: UInt64, event: UpdateEvent, elements: [Identifier]) {
        self.seq = seq
        self.event = event
        self.elements = Array(elements.prefix(Self.mostElements))
    }
}

extension Refusal {
    private static func cut(_ field: String) -> String {
        if field.utf8.count <= Self.longestField { return field }
        var end = field.utf8.index(field.startIndex, offsetBy: Self.longestField - "…".utf8.count)
        while end.samePosition(in: field.unicodeScalars) == nil { end = field.utf8.index(before: end) }
        return field[..<end] + "…"
    }
}

extension ByteWriter {
    /// Appends a refusal: code u8, message, field (empty: none), retryAfterMs u32 (0: none), expected u64 (0: none),
    /// by name (empty: none), seq of the entry u64 (0: none) and, if there is one, its event u8 and the list of its
    /// elements' names.
    public mutating func refusal(_ refusal: Refusal) {
        self.u8(refusal.code.rawValue)
        self.text(refusal.message)
        self.text(refusal.field ?? "")
        self.integer(refusal.retryAfterMs ?? 0)
        self.integer(refusal.expected ?? 0)
        self.name(refusal.by ?? "")
        self.integer(refusal.entry?.seq ?? 0)
        guard let entry = refusal.entry else { return }
        self.u8(entry.event.rawValue)
        self.list(entry.elements) { $1.name($0) }
    }
}

extension ByteReader {
    public mutating func refusal() -> Refusal {
        let code = RefusalCode(rawValue: self.u8())
        if code == nil { self.fail() }
        let message = self.text()
        let field = self.text()
        let retryAfterMs = self.integer(UInt32.self)
        let expected = self.integer(UInt64.self)
        var refusal = Refusal(
            code ?? .invalid, message, field: field.isEmpty ? nil : field,
            retryAfterMs: retryAfterMs == 0 ? nil : retryAfterMs, expected: expected == 0 ? nil : expected,
            by: self.user())
        let seq = self.ordinal()
        if seq > 0 { refusal.entry = self.blockedEntry(seq) }
        return refusal
    }

    private mutating func user() -> Identifier? {
        let user = self.name()
        return user.isEmpty ? nil : user
    }

    private mutating func blockedEntry(_ seq: UInt64) -> BlockedEntry? {
        let event = UpdateEvent(rawValue: self.u8())
        let elements = self.list { $0.name() }
        guard let event, elements.count <= BlockedEntry.mostElements else {
            self.fail()
            return nil
        }
        return BlockedEntry(seq: seq, event: event, elements: elements)
    }
}
