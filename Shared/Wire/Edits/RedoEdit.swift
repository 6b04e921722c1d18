public import JSONBytes

/// `history:redo`: makes the change again that the user took back last. It has no fields.
public struct RedoEdit: Edit {
    public static let event = "history:redo"
    public static let tag: UInt8 = 12
    public static let rateCost = 4
    public static let isGroup = false
    /// It may change elements that its session is moving; their gestures go on.
    public static let gestures = GestureEffect.leavesOpen

    /// Makes the change again that was taken back last.
    public init() {}

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {}

    public init(from reader: inout ByteReader) throws(Refusal) {}

    public func encode(into writer: inout ByteWriter) {}

    public func identify(into hash: inout BodyHash) {}
}
