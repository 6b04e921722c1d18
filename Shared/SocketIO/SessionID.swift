/// The id of a session as clients know it, `gateway-1.Zk3…`: the name of the server that opened it, by which a proxy finds
/// that server, and a part that nobody can guess.
public struct SessionID: Equatable, Sendable {
    /// The server's name, at most ``longestName`` bytes; empty when servers have none.
    public let server: [UInt8]
    public let id: EngineID

    public static let longestName = 64

    /// The id of a session that `server` opens.
    public init(server: [UInt8], id: EngineID) {
        self.server = server
        self.id = id
    }

    /// Reads an id from the wire; `nil` if no server gave it out.
    public init?(_ text: [UInt8]) {
        guard let id = EngineID(text.suffix(EngineID.length)) else { return nil }
        let name = text.dropLast(EngineID.length)
        guard name.isEmpty || name.last == UInt8(ascii: "."), name.count != 1, name.count <= Self.longestName + 1 else {
            return nil
        }
        self.init(server: Array(name.dropLast()), id: id)
    }

    public var text: [UInt8] { self.server.isEmpty ? self.id.text : self.server + [UInt8(ascii: ".")] + self.id.text }
}
