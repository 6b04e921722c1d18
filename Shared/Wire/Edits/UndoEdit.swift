public import JSONBytes

/// `history:undo`: takes back the user's newest change of the room that still shows. It has no fields.
public struct UndoEdit: Edit {
    public static let event = "history:undo"
    public static let tag: UInt8 = 11
    public static let rateCost = 4
    public static let isGroup = false
    /// It may change elements that its session is moving; their gestures go on.
    public static let gestures = GestureEffect.leavesOpen

    /// Takes back the newest change.
    public init() {}

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {}

    public init(from reader: inout ByteReader) throws(Refusal) {}

    public func encode(into writer: inout ByteWriter) {}

    public func identify(into hash: inout BodyHash) {}
}
