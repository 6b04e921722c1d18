public import JSONBytes

/// A step through the changes of its user, back or forth. It may change elements that its session is moving; their gestures
/// go on.
///
///     past u64 (0: none)
public protocol HistoryEdit: Edit {
    /// The newest entry of the stack, which is dropped first; nil: none is.
    var past: UInt64? { get }

    init(past: UInt64?)
}

extension HistoryEdit {
    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.init(past: try PayloadField.past(payload))
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        let past = reader.ordinal()
        self.init(past: past > 0 ? past : nil)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.past ?? 0)
    }
}

/// `history:undo`: takes back the user's newest change of the room that still shows.
public struct UndoEdit: HistoryEdit {
    public static let traits = EditTraits(
        event: "history:undo", tag: 11, rateCost: 4, isGroup: false, gestures: .leavesOpen, motion: .fromWhatShows)

    public var past: UInt64?

    public init(past: UInt64? = nil) {
        self.past = past
    }
}

/// `history:redo`: makes the change again that the user took back last.
public struct RedoEdit: HistoryEdit {
    public static let traits = EditTraits(
        event: "history:redo", tag: 12, rateCost: 4, isGroup: false, gestures: .leavesOpen, motion: .fromWhatShows)

    public var past: UInt64?

    public init(past: UInt64? = nil) {
        self.past = past
    }
}
