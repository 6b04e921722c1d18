public import JSONBytes

/// One kind of edit: everything about it except how it is decided, which stands beside it in the committer's core.
///
///     app's payload ──init(_:reading:)──► edit ──encode──► EncodedEdit, inside a Commit ──init(from:)──► decided
///
/// Conforming to it and one line in ``allEdits`` make the gateway accept the event, the coalescer close its gestures
/// and the committer ask for its decision. There are no default implementations: a rule that was forgotten does not
/// compile.
public protocol Edit: Equatable, Sendable {
    /// The event by which apps send it, such as `element:transform`.
    static var event: String { get }

    /// Its number on the wire, 1 to 255. It is never given to another kind.
    static var tag: UInt8 { get }

    /// What it does to the gestures that its session has under way on ``elements``.
    static var gestures: GestureEffect { get }

    /// The existing elements that it is about, in the app's order; empty for an edit that only creates.
    var elements: ShortList<Identifier> { get }

    /// Reads it from an app's payload.
    /// - Throws: a refusal that names the field at fault.
    init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal)

    /// Reads what ``encode(into:)`` wrote. Bytes that end early only mark the reader as failed.
    /// - Throws: a refusal, when JSON inside it does not hold what it must.
    init(from reader: inout ByteReader) throws(Refusal)

    /// Appends its fields.
    func encode(into writer: inout ByteWriter)

    /// Feeds every field that makes it this edit and no other: a commit that comes again under the same number must
    /// give the same hash. Ids that the gateway made are left out.
    func identify(into hash: inout BodyHash)
}

/// What a kind of edit does to gestures under way.
public enum GestureEffect: Sendable {
    /// Gestures stay open: previews of them may follow.
    case leavesOpen
    /// It ends the gesture of its session on each of its elements: no preview of that gesture may follow its update.
    case ends
}

/// What the gateway lends to an edit that reads itself from an app's payload.
public struct EditReading: Sendable {
    /// The most elements that one edit may be about.
    public let largestGroup: Int
    /// Makes the ids of elements that apps create without one.
    public var ids: IDGenerator

    /// - Parameters:
    ///   - largestGroup: the most elements that one edit may be about.
    ///   - seed: of the ids that are made; random at each start of a gateway.
    public init(largestGroup: Int, seed: UInt64) {
        self.largestGroup = largestGroup
        self.ids = IDGenerator(seed: seed)
    }
}
