import JSONBytes

/// What somebody tells everyone who is in a room, once: nothing keeps it.
public struct MemberSignal: Equatable, Sendable {
    /// Who tells it.
    public let userId: String
    /// The id of the session from which it comes.
    public let sid: String
    /// What it is, by a name of the app's choice.
    public let name: String
    /// The text of a JSON value; `null` if there is none.
    package let json: [UInt8]

    package init?(_ data: JSONObject) {
        guard let userId = data["userId"]?.string, let sid = data["sid"]?.string, let name = data["name"]?.string else {
            return nil
        }
        self.userId = userId
        self.sid = sid
        self.name = name
        self.json = data["data"].map { Array($0.rawBytes) } ?? Array("null".utf8)
    }
}
