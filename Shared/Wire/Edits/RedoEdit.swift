public import JSONBytes

/// `history:redo`: makes the change again that the user took back last.
///
///     past u64 (0: none)
public struct RedoEdit: Edit {
    public static let event = "history:redo"
    public static let tag: UInt8 = 12
    public static let rateCost = 4
    public static let isGroup = false
    /// It may change elements that its session is moving; their gestures go on.
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.fromWhatShows

    /// The newest entry of the redo stack, which is dropped first; nil: none is.
    public var past: UInt64?

    public init(past: UInt64? = nil) {
        self.past = past
    }

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.past = try PayloadField.past(payload)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        let past = reader.ordinal()
        self.past = past > 0 ? past : nil
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.past ?? 0)
    }

    public func identify(into hash: inout BodyHash) {
        if let past = self.past { hash.integer(past) }
    }
}
