/// An app's passing message to the others in a room: gateway → fan-out → gateways. Each arrives once or not at all: none
/// takes the place of another one, and where a queue is full it is dropped.
///
///     room name │ connection u64 │ user name │ sid name │ name text │ data JSON blob
public struct RoomSignal: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.signal

    public var room: Identifier
    /// The connection that sent it, which does not get it.
    public var connection: UInt64
    public var user: Identifier
    /// The public name of its session in the room.
    public var sid: Identifier
    /// What it is, as the app calls it.
    public var name: String
    /// Any JSON value; empty: none.
    public var data: [UInt8]

    public init(
        room: Identifier, connection: UInt64, user: Identifier, sid: Identifier, name: String, data: [UInt8]
    ) {
        self.room = room
        self.connection = connection
        self.user = user
        self.sid = sid
        self.name = name
        self.data = data
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.connection, self.user, self.sid, self.name, self.data)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.connection, self.user, self.sid, self.name, self.data) = reader.fields()
    }
}
