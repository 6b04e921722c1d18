public import JSONBytes

/// One kind of edit: everything about it except its decision, which is in the committer's core.
///
///     app's payload ──init(_:reading:)──► edit ──encode──► EncodedEdit, inside a Commit ──init(from:)──► decided
///
/// Conforming to it and one line in ``allEdits`` make the gateway accept the event and end its gestures, and the
/// committer require its decision.
public protocol Edit: Equatable, Sendable {
    static var traits: EditTraits { get }

    /// The existing elements that it affects, in the app's order; empty for an edit that only creates.
    var elements: ShortList<Identifier> { get }

    /// Reads it from an app's payload.
    /// - Throws: a refusal that names the field at fault.
    init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal)

    /// Reads the output of ``encode(into:)``. Bytes that end early only mark the reader as failed.
    /// - Throws: a refusal when JSON inside it is invalid.
    init(from reader: inout ByteReader) throws(Refusal)

    func encode(into writer: inout ByteWriter)

    /// Feeds what the edit's identity is: a commit repeated under the same number must have the same hash. It is what
    /// ``encode(into:)`` writes, unless that has JSON as the app spelled it, or ids that the gateway generated.
    func identify(into hash: inout BodyHash)
}

extension Edit {
    public func identify(into hash: inout BodyHash) { hash.bytes(EncodedEdit(self).fields) }
}

/// What holds for every edit of a kind.
public struct EditTraits: Sendable {
    /// The event by which apps send it, such as `element:transform`.
    public let event: String
    /// Its number on the wire, 1 to 255. Numbers are never reused.
    public let tag: UInt8
    /// What it counts for against a connection's rate of commits: more than 1 where it has a transaction of its own.
    public var rateCost = 1
    /// Whether it is an edit of several elements: then its fields begin with their list.
    public let isGroup: Bool
    /// Its effect on the gestures of its session in progress on ``Edit/elements``.
    public let gestures: GestureEffect
    /// Whether the eye can follow what it does: an app may send a `motion` with it.
    public let motion: MotionUse
}

/// The effect of a kind of edit on gestures in progress.
public enum GestureEffect: Sendable {
    /// Gestures stay open: previews of them may follow.
    case leavesOpen
    /// It ends the gesture of its session on each of its elements: no preview of that gesture may follow its update.
    case ends
}

/// What a kind of edit does with the `motion` of a payload.
public enum MotionUse: Sendable {
    /// It moves nothing, and ignores it.
    case ignored
    /// Everything starts from what shows.
    case fromWhatShows
    /// The app may say where a hand let go.
    case fromHand
}

/// What the gateway provides to an edit that is read from an app's payload.
public struct EditReading: Sendable {
    /// The maximum number of elements in one edit.
    public let largestGroup: Int
    /// Generates the ids of elements that apps create without one.
    public var ids: IDGenerator
    /// The time since 1970, with which such ids begin.
    public var seconds: Int64 = 0

    /// - Parameters:
    ///   - largestGroup: the maximum number of elements in one edit.
    ///   - seed: of the generated ids; random at each start of a gateway.
    public init(largestGroup: Int, seed: UInt64) {
        self.largestGroup = largestGroup
        self.ids = IDGenerator(seed: seed)
    }
}
