public import Canvas
public import TouchSyncClientCore

/// All that a room shows at one moment: read one after the other, its parts may be of different moments.
public struct ShownRoom: Sendable {
    /// How far the client is.
    public let state: ClientState
    /// The number of the last change that was applied here; 0 before the first.
    public let seq: Int64
    /// The number of edits without a result.
    public let pending: Int
    /// All elements as they lie on each other, the lowest first.
    public let elements: [Element]
    /// Who is here, with cursors and selections.
    public let members: [RoomMember]
    /// Who this user is here, and what it may do; nil before the first join.
    public let me: OwnMembership?
}
