import JSONBytes
import TouchSyncClientCore

extension SyncClient {
    func openSocket() {
        self.closeSocket()
        let socket = SocketSession()
        self.socket = socket
        socket.open(self.address.socketURL, by: self.transport) { [weak self, weak socket] event in
            guard let socket else { return }
            await self?.happened(event, to: socket)
        }
    }

    func closeSocket() {
        self.socket?.close()
        self.socket = nil
        self.held.dropTexts()
    }

    func send(_ text: String) {
        if !self.held.add(text) { self.socket?.send(text) }
    }

    // MARK: What is sent after it is saved

    func save(_ record: RoomRecord?, isFirst: Bool, room: String) {
        guard isFirst, let savedRooms = self.savedRooms else {
            self.savedRooms?.save(record, room: room)
            return
        }
        let hold = self.held.begin()
        let release: @Sendable () -> Void = { [weak self] in Task { await self?.release(hold) } }
        savedRooms.save(record, room: room, done: release)
        self.tasks.start { [clock] in
            // A store that hangs or fails must not hold the client.
            try? await clock.sleep(until: clock.now + HeldTexts.patience)
            release()
        }
    }

    private func release(_ hold: Int) {
        for text in self.held.end(hold) { self.socket?.send(text) }
    }

    /// What a socket still brings after it was closed is not for the core.
    private func happened(_ event: SocketSession.Event, to socket: SocketSession) {
        guard socket === self.socket else { return }
        switch event {
        case .opened: self.input(.opened)
        case .received(let text): self.input(.packetReceived(text))
        case .closed(let failure): self.input(.closed(failure))
        }
    }

    func provideToken(_ reason: TokenReason) {
        guard let provider = self.tokenProvider else { return self.noToken() }
        self.tasks.start { [weak self, errorListeners] in
            do {
                let token = try await provider(reason)
                await self?.input(.tokenProvided(token))
            } catch {
                errorListeners.tell(error)
                await self?.input(.tokenFailed)
            }
        }
    }

    private func noToken() {
        self.tasks.start { [weak self] in await self?.input(.tokenProvided(nil)) }
    }

    // MARK: History

    private var historyReader: HistoryReader { HistoryReader(transport: self.transport, address: self.address) }

    /// A page for the app.
    func history(of room: String, after: Int64, limit: Int) async throws -> RoomHistoryPage {
        let limit = min(max(limit, 1), 200)
        let (reader, token) = (self.historyReader, self.core.token)
        return RoomHistoryPage(json: try await reader.page(room: room, after: after, limit: limit, token: token))
    }

    /// A page for the core, which asks again later when it cannot be had.
    func searchHistory(of room: String, after: Int64) {
        let (reader, token, limit) = (self.historyReader, self.core.token, self.pageLimits[room])
        self.tasks.start { [weak self] in
            let page = try? await reader.page(
                room: room, after: after, limit: limit, bytes: HistoryReader.bytes(entries: limit), token: token)
            await self?.historyRead(of: room, after: after, page.flatMap(HistoryExcerpt.init(json:)))
        }
    }

    private func historyRead(of room: String, after: Int64, _ page: HistoryExcerpt?) {
        if page == nil { self.pageLimits.failed(room) } else { self.pageLimits.succeeded(room) }
        self.input(.room(room, .historyRead(after: after, page)))
    }
}
