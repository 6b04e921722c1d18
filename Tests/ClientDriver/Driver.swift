import Canvas
import JSONBytes
import TouchSyncClient
import TouchSyncClientCore

/// A client, and what a test may do with it.
actor Driver {
    /// What a method answers: at once, or when it is known.
    enum Answer {
        case now(any JSONEncodable)
        case later(@Sendable () async throws -> any JSONEncodable)
    }

    /// The test and the driver disagree.
    struct Misuse: Error {
        let text: String
    }

    nonisolated let client: SyncClient
    let transport = FaultyTransport()
    let tokens: TokenDesk
    var rooms: [String: SyncRoom] = [:]
    var gestures: [String: SyncGesture] = [:]

    init(_ options: JSONObject) throws {
        let tokens = TokenDesk()
        self.tokens = tokens
        let hasTokens = options["hasTokens"]?.bool ?? false
        let user = ClientUser(
            id: options["userId"]?.string, name: options["name"]?.string, color: options["color"]?.string)
        let provider: SyncClient.TokenProvider = { await tokens.ask($0) }
        let client = try SyncClient(
            url: options["url"]?.string ?? "", user: user, token: hasTokens ? provider : nil,
            store: options["store"]?.string.map { FileEditStore(folder: $0) }, owner: options["owner"]?.string,
            transport: self.transport)
        self.client = client
        let (states, errors, failures) = (client.states, client.errors, client.failures)
        Task { for await state in states { Report.event("state", state.rawValue) } }
        Task { for await failure in failures { Report.event("failure", FailureView(failure: failure)) } }
        Task { for await error in errors { Report.event("error", Failure(error: error)) } }
    }

    /// Does what the test wants. What takes time does not hold what the test wants next.
    func perform(_ method: String, _ arguments: [JSONValue], call: Int64) async {
        do {
            switch try await self.answer(method, arguments) {
            case .now(let value): Report.result(call, value)
            case .later(let work):
                Task {
                    do { Report.result(call, try await work()) } catch { Report.error(call, error) }
                }
            }
        } catch { Report.error(call, error) }
    }

    private func answer(_ method: String, _ arguments: [JSONValue]) async throws -> Answer {
        switch method {
        case "token": self.tokens.answer(arguments.first?.string)
        case "connect": self.client.connect()
        case "disconnect": self.client.disconnect()
        case "deafen": self.transport.connection?.deafen()
        case "mute": self.transport.connection?.mute()
        case "cut": self.transport.connection?.close()
        case "join": self.join(try Self.text(arguments, 0))
        case "joined":
            let room = try self.room(arguments)
            return .later {
                try await room.joined()
                return Nothing()
            }
        case "share":
            let rect = arguments.last?.rect
            try self.room(arguments).look(rect, share: rect != nil)
        case "follow":
            let view = try self.room(arguments).follow(try Self.text(arguments, 1))
            Task { for await shared in view { Report.event("view", ViewportView(rect: shared)) } }
        case "look": return .now(await self.look(try self.room(arguments)))
        case "watch":
            let (room, seconds) = (try self.room(arguments), arguments.last?.double ?? 0)
            return .later { try await Self.watch(room, seconds: seconds) }
        default: return try await self.editAnswer(method, arguments)
        }
        return .now(Nothing())
    }

    private func editAnswer(_ method: String, _ arguments: [JSONValue]) async throws -> Answer {
        switch method {
        case "edit": return try self.edit(try self.room(arguments), Array(arguments.dropFirst()))
        case "start":
            _ = try self.edit(try self.room(arguments), Array(arguments.dropFirst()))
            return .now(Nothing())
        case "predict": return try await self.predict(try self.room(arguments), Array(arguments.dropFirst()))
        case "begin":
            let ids = arguments.count > 2 ? Self.ids(arguments[2]) : []
            self.gestures[try Self.text(arguments, 1)] = try self.room(arguments).begin(ids)
            return .now(Nothing())
        case "gesture": return try self.gesture(arguments)
        default: throw Misuse(text: "no method \(method)")
        }
    }

    // MARK: Rooms

    private func join(_ id: String) {
        let room = self.client.room(id)
        if self.rooms.updateValue(room, forKey: id) != nil { return }
        let changes = room.changes
        Task {
            for await case .refusal(let error) in changes { Report.event("refusal", Failure(error: error)) }
        }
    }

    private func look(_ room: SyncRoom) async -> RoomView {
        RoomView(shown: await room.shown, drawn: await room.drawing().elements)
    }

    /// What an edit makes of an element: as it is shown immediately, and as the server stores it.
    private func predict(_ room: SyncRoom, _ arguments: [JSONValue]) async throws -> Answer {
        let edit = try self.syncEdit(room, try Self.text(arguments, 1), Array(arguments.dropFirst(2)))
        let shown = await room.element(try Self.text(arguments, 0))
        return .later { [shown.map(ElementView.init), try await edit.result.element.map(ElementView.init)] }
    }

    private func gesture(_ arguments: [JSONValue]) throws -> Answer {
        guard let gesture = self.gestures[try Self.text(arguments, 0)] else { throw Misuse(text: "no gesture") }
        switch try Self.text(arguments, 1) {
        case "update": gesture.update(try GestureFields(arguments[2]))
        case "cancel": gesture.cancel()
        case "end":
            let edit = gesture.end()
            return .later { try await edit.result.details }
        default: throw Misuse(text: "no such method of a gesture")
        }
        return .now(Nothing())
    }

    // MARK: Arguments

    private func room(_ arguments: [JSONValue]) throws -> SyncRoom {
        guard let room = self.rooms[try Self.text(arguments, 0)] else { throw Misuse(text: "not joined") }
        return room
    }

    static func text(_ arguments: [JSONValue], _ index: Int) throws -> String {
        guard arguments.indices.contains(index), let text = arguments[index].string else {
            throw Misuse(text: "argument \(index) is no text")
        }
        return text
    }

    /// One id, or several.
    static func ids(_ value: JSONValue) -> [String] {
        value.string.map { [$0] } ?? value.elements.compactMap(\.string)
    }
}
