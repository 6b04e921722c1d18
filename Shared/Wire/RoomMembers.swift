/// Who is in a room, so that gateways find what they have missed of comings and goings. Large rooms come in parts, each of
/// them the truth about the users behind `after` up to `through`: parts need not be put together.
///
///     room name │ after name │ through name │ isComplete u8 │ list of member
public struct RoomMembers: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.roomMembers
    public static let largestPart = 500

    public var room: Identifier
    /// The users that it is about come behind this one in the order of ``Identifier``; empty: from the first one.
    public var after: Identifier
    /// The last user that it is about; empty: up to the last one.
    public var through: Identifier
    /// False while gateways may still come whose members have been in the room all along.
    public var isComplete: Bool
    /// Those of the users who are in the room, in their order.
    public var members: [Member]

    public init(
        room: Identifier, after: Identifier = "", through: Identifier = "", isComplete: Bool, members: [Member]
    ) {
        self.room = room
        self.after = after
        self.through = through
        self.isComplete = isComplete
        self.members = members
    }

    /// The list of all members, in parts.
    public static func parts(of members: [Member], in room: Identifier, isComplete: Bool) -> [RoomMembers] {
        var rest = members.sorted { $0.user < $1.user }[...]
        var parts: [RoomMembers] = []
        var after: Identifier = ""
        repeat {
            let part = rest.prefix(Self.largestPart)
            rest = rest.dropFirst(part.count)
            let through = rest.isEmpty ? "" : part.last?.user ?? ""
            parts.append(
                RoomMembers(room: room, after: after, through: through, isComplete: isComplete, members: Array(part)))
            after = through
        } while !rest.isEmpty
        return parts
    }

    public func covers(_ user: Identifier) -> Bool {
        self.after < user && (self.through.isEmpty || user <= self.through)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.after, self.through, self.isComplete, self.members)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.after, self.through, self.isComplete, self.members) = reader.fields()
    }
}
