import TouchSyncClientCore

/// Those who hear of a room.
final class RoomHub: Sendable {
    private struct Listener: Sendable {
        weak var mailbox: ChangeMailbox?
    }

    private struct State: Sendable {
        var listeners: [Listener] = []
        var joined = Promise<Void>()
        var denial: ClientError?
        var isOver = false

        mutating func note(_ change: RoomChange) {
            switch change {
            case .denied(let error): self.denial = error
            case .joined, .left: self.denial = nil
            default: break
            }
        }
    }

    private let state = Locked(State())

    /// Done with the first join, or why there is none.
    var joined: Promise<Void> { self.state.withLock { $0.joined } }

    /// Why this user may not join, if that was the answer to the last join. Who listens before reading it misses nothing.
    var denial: ClientError? { self.state.withLock { $0.denial } }

    func listen() -> ChangeMailbox {
        let mailbox = ChangeMailbox()
        let isOver = self.state.withLock { state in
            state.listeners.removeAll { $0.mailbox == nil }
            if !state.isOver { state.listeners.append(Listener(mailbox: mailbox)) }
            return state.isOver
        }
        if isOver { mailbox.finish() }
        return mailbox
    }

    func tell(_ change: RoomChange) {
        let listeners = self.state.withLock { state -> [ChangeMailbox] in
            state.note(change)
            return state.listeners.compactMap(\.mailbox)
        }
        switch change {
        case .joined: self.settle(.success(()), isLasting: true)
        case .denied(let error): self.settle(.failure(error), isLasting: true)
        case .left: self.settle(.failure(ClientError.left), isLasting: false)
        default: break
        }
        for listener in listeners { listener.tell(change) }
    }

    /// Tells those who wait for the join, and those who will until something else is known: a room that was denied may
    /// be joined later, with another token.
    private func settle(_ result: Result<Void, any Error>, isLasting: Bool) {
        let next = Promise<Void>()
        if isLasting { next.settle(result) }
        let joined = self.state.withLock { state in
            defer { state.joined = next }
            return state.joined
        }
        joined.settle(result)
    }

    /// Ends everything that waits for changes.
    func finish(_ error: ClientError) {
        let (listeners, joined) = self.state.withLock { state in
            state.isOver = true
            defer { state.listeners = [] }
            return (state.listeners.compactMap(\.mailbox), state.joined)
        }
        joined.settle(.failure(error))
        for listener in listeners { listener.finish() }
    }
}

/// The rooms that the app wants to be in, or still is.
final class RoomHubs: Sendable {
    private struct Entry: Sendable {
        let hub: RoomHub
        /// Joins that the core has not heard of.
        var waiting = 0
    }

    private struct State: Sendable {
        var entries: [TextKey: Entry] = [:]
        var isOver = false
    }

    private let state = Locked(State())

    subscript(room: String) -> RoomHub? { self.state.withLock { $0.entries[TextKey(room)]?.hub } }

    func enter(_ room: String) -> RoomHub {
        let (hub, isOver) = self.state.withLock { state in
            let hub = state.entries[TextKey(room)]?.hub ?? RoomHub()
            if !state.isOver { state.entries[TextKey(room), default: Entry(hub: hub)].waiting += 1 }
            return (hub, state.isOver)
        }
        if isOver { hub.finish(.closed) }
        return hub
    }

    func entered(_ room: String) {
        self.state.withLock { $0.entries[TextKey(room)]?.waiting -= 1 }
    }

    /// A room was left. It is forgotten, unless the app wants to enter it again.
    func left(_ room: String) {
        let hub = self.state.withLock { state -> RoomHub? in
            guard state.entries[TextKey(room)]?.waiting == 0 else { return nil }
            return state.entries.removeValue(forKey: TextKey(room))?.hub
        }
        hub?.finish(.left)
    }

    /// Ends everything that waits for changes of any room.
    func finish() {
        let hubs = self.state.withLock { state -> [RoomHub] in
            state.isOver = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.hub)
        }
        for hub in hubs { hub.finish(.closed) }
    }
}
