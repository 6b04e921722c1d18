import TouchSyncClientCore

/// The edits of one account in a store, with what is known of them here.
final class SavedRooms: Sendable {
    /// The most time that the store may take to open, ms.
    private static let patience = 5000.0

    private enum Phase: Sendable {
        case opening
        case open
        /// Another client has them, or the store failed, or did not open in time.
        case without
        case closed
    }

    private struct State: Sendable {
        var phase = Phase.opening
        var records: [TextKey: RoomRecord] = [:]
        var queue: SaveQueue?
    }

    private let store: any EditStore
    private let account: EditAccount
    private let state = Locked(State())

    init(store: any EditStore, account: EditAccount) {
        self.store = store
        self.account = account
    }

    /// The rooms of which something is saved, in the order of their names.
    var rooms: [String] {
        self.state.withLock { $0.records.keys.map(\.text) }.sorted()
    }

    subscript(room: String) -> RoomRecord? { self.state.withLock { $0.records[TextKey(room)] } }

    /// Reads what an earlier run of the app left. A store that another client uses is not used, nor one that hangs.
    func open(failed: Broadcast<any Error>, clock: ClientClock) async {
        let answered = Promise<Void>()
        Task {
            await self.read(failed: failed)
            answered.settle(.success(()))
        }
        let limit = Task {
            do { try await clock.sleep(until: clock.now + Self.patience) } catch { return }
            self.goOnWithout(EditStoreError.timedOut, failed)
            answered.settle(.success(()))
        }
        try? await answered.value
        limit.cancel()
    }

    private func read(failed: Broadcast<any Error>) async {
        do {
            let saved = try await self.store.open(self.account)
            let queue = SaveQueue(store: self.store, account: self.account) { failed.tell($0) }
            let isTooLate = self.state.withLock { state in
                guard state.phase == .opening else { return true }
                state.phase = .open
                state.queue = queue
                for edits in saved { state.records[TextKey(edits.room)] = edits.record }
                return false
            }
            if isTooLate { await self.store.close(self.account) }
        } catch { self.goOnWithout(error, failed) }
    }

    /// The store is not used, unless it is open already, or closed.
    private func goOnWithout(_ error: any Error, _ failed: Broadcast<any Error>) {
        let wasOpening = self.state.withLock { state in
            guard state.phase == .opening else { return false }
            state.phase = .without
            return true
        }
        if wasOpening { failed.tell(error) }
    }

    /// Keeps a room's record; nil: nothing of the room.
    /// - Parameter done: called when it is kept, or there is no store to keep it.
    func save(_ record: RoomRecord?, room: String, done: (@Sendable () -> Void)? = nil) {
        let queue = self.state.withLock { state -> SaveQueue? in
            guard state.phase == .open else { return nil }
            state.records[TextKey(room)] = record
            return state.queue
        }
        if let queue { queue.save(record, room: room, done: done) } else { done?() }
    }

    /// Waits for saves, and gives the account back.
    func close(patience: Duration) async {
        let queue = self.state.withLock { state -> SaveQueue? in
            defer { (state.phase, state.queue) = (.closed, nil) }
            return state.queue
        }
        await queue?.close(patience: patience)
    }
}
