import TouchSyncClient
import TouchSyncClientCore

/// A client, its server, and its time.
struct Fixture {
    let transport = ScriptedTransport()
    let time = ManualClock()
    let client: SyncClient

    init(
        token: SyncClient.TokenProvider? = nil, store: (any EditStore)? = nil, owner: String? = nil
    ) throws {
        self.client = try SyncClient(
            url: "http://127.0.0.1:8080", user: ClientUser(id: "ada"), token: token, store: store, owner: owner,
            transport: self.transport, clock: self.time.clock)
    }

    /// Connected, and in a room.
    func entered(_ elements: String = note("a")) async throws -> (SyncRoom, ScriptedConnection) {
        let room = self.client.room("demo")
        self.client.connect()
        let connection = try await self.transport.connection()
        try await connection.accept()
        try await connection.join(elements)
        try await room.joined()
        return (room, connection)
    }
}

/// An element as the server sends it.
func note(_ id: String, x: Int = 0) -> String {
    #"{"id":"\#(id)","type":"note","positionX":\#(x),"positionY":0,"width":100,"height":100,"rotation":0,"#
        + #""scaleX":1,"scaleY":1,"originalWidth":100,"originalHeight":100,"anchorX":0.5,"anchorY":0.5,"#
        + #""createdBy":"bob","updatedBy":"bob","rev":1}"#
}

/// Somebody's change of an element.
func moved(_ id: String, x: Int, seq: Int) -> String {
    #"42["element:transformed",{"roomId":"demo","seq":\#(seq),"userId":"bob","sid":"b","element":\#(note(id, x: x))}]"#
}

/// The states that follow.
struct StateList: Sendable {
    private let states: AsyncStream<ClientState>

    init(_ client: SyncClient) {
        self.states = client.states
    }

    func next() async -> ClientState? {
        for await state in self.states { return state }
        return nil
    }

    /// Waits for a state.
    func skip(to state: ClientState) async {
        while let next = await self.next(), next != state {}
    }
}
