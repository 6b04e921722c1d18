import TouchSyncClientCore

/// Saves one after the other. Of a room the latest record counts.
final class SaveQueue: Sendable {
    private struct Save: Sendable {
        let room: TextKey
        let record: RoomRecord?
        /// Those who wait for it, or for one that it replaced.
        var done: [@Sendable () -> Void]
    }

    private struct State: Sendable {
        var saves: [Save] = []
        var isWriting = false
        /// Those who wait until everything is saved.
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let store: any EditStore
    private let account: EditAccount
    private let failed: @Sendable (any Error) -> Void
    private let state = Locked(State())

    init(store: any EditStore, account: EditAccount, failed: @escaping @Sendable (any Error) -> Void) {
        self.store = store
        self.account = account
        self.failed = failed
    }

    /// Keeps a room's record; nil: nothing of the room.
    /// - Parameter done: called when it, or a later one, was kept; not after a failure.
    func save(_ record: RoomRecord?, room: String, done: (@Sendable () -> Void)? = nil) {
        let room = TextKey(room)
        let isFirst = self.state.withLock { state in
            let replaced = state.saves.filter { $0.room == room }
            state.saves.removeAll { $0.room == room }
            state.saves.append(
                Save(room: room, record: record, done: replaced.flatMap(\.done) + [done].compactMap(\.self)))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { Task { await self.write() } }
    }

    private func write() async {
        while let save = self.takeFirst() {
            do {
                if let record = save.record {
                    try await self.store.save(SavedEdits(room: save.room.text, record: record), of: self.account)
                } else {
                    try await self.store.clear(save.room.text, of: self.account)
                }
                for done in save.done { done() }
            } catch { self.failed(error) }
        }
    }

    private func takeFirst() -> Save? {
        let (next, waiting) = self.state.withLock { state in
            if !state.saves.isEmpty {
                return (Optional(state.saves.removeFirst()), [AsyncStream<Void>.Continuation]())
            }
            state.isWriting = false
            defer { state.waiting = [] }
            return (nil, state.waiting)
        }
        for continuation in waiting { continuation.finish() }
        return next
    }

    /// Waits until everything is saved, and gives the account back.
    func close(patience: Duration) async {
        let (done, continuation) = AsyncStream<Void>.makeStream()
        let isWriting = self.state.withLock { state in
            if state.isWriting { state.waiting.append(continuation) }
            return state.isWriting
        }
        if !isWriting { continuation.finish() }
        // A store that hangs must not hold the app.
        let limit = Task {
            try? await Task.sleep(for: patience)
            continuation.finish()
        }
        for await _ in done {}
        limit.cancel()
        await self.store.close(self.account)
    }
}
