import JSONBytes
public import TouchSyncClientCore

/// Keeps edits without a result over restarts of the app. One client at a time has an account's edits.
public protocol EditStore: Sendable {
    /// Takes an account's edits for this client, and tells what an earlier one left.
    /// - Throws: `EditStoreError.inUse` while another client has them. The client that is refused goes on without a
    ///   store, as one does that waits for longer than 5 s.
    func open(_ account: EditAccount) async throws -> [SavedEdits]

    /// Keeps a room's edits instead of those that were kept before.
    func save(_ edits: SavedEdits, of account: EditAccount) async throws

    /// Keeps nothing of a room any more.
    func clear(_ room: String, of account: EditAccount) async throws

    /// Gives an account's edits back. They stay where they are.
    func close(_ account: EditAccount) async
}

/// Whose edits they are, and where they go.
public struct EditAccount: Hashable, Sendable {
    /// The user, by the app's name.
    public let owner: String
    /// The server, such as `https://touch.example`.
    public let origin: String

    /// An account.
    public init(owner: String, origin: String) {
        self.owner = owner
        self.origin = origin
    }

    /// Compares bytewise.
    public static func == (left: EditAccount, right: EditAccount) -> Bool {
        TextKey(left.owner) == TextKey(right.owner) && TextKey(left.origin) == TextKey(right.origin)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(TextKey(self.owner))
        hasher.combine(TextKey(self.origin))
    }
}

/// A room's edits without a result.
public struct SavedEdits: Equatable, Sendable {
    /// The room.
    public let room: String
    /// The edits, with the numbers under which they were sent.
    public let record: RoomRecord

    /// A room's edits.
    public init(room: String, record: RoomRecord) {
        self.room = room
        self.record = record
    }

    /// What `text` was written of; nil for anything else.
    public init?(text: [UInt8]) {
        guard let object = JSONObject(text: text), let room = object["room"]?.string,
            let record = object["record"].flatMap(RoomRecord.init(json:))
        else { return nil }
        self.init(room: room, record: record)
    }

    /// JSON, UTF-8.
    public var text: [UInt8] {
        JSONWriter.text { writer in
            writer.member("room", self.room)
            writer.member("record", self.record)
        }
    }
}

/// Why edits are not kept.
public enum EditStoreError: Error, Equatable, Sendable {
    /// Another client has the account's edits.
    case inUse
    /// The store did not open in time.
    case timedOut
    /// A room's name is too long for a file.
    case roomName(String)
    /// The system refused: what was tried, and its number of the error.
    case system(String, errno: Int32)
}
