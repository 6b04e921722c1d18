import TouchSyncClientCore

/// One WebSocket, from the attempt to open it to its end.
final class SocketSession: Sendable {
    private struct State: Sendable {
        var connection: (any TransportConnection)?
        var task: Task<Void, Never>?
        var isClosed = false
    }

    private let state = Locked(State())

    deinit { self.close() }

    /// Opens it, and tells what happens to it.
    func open(_ url: String, by transport: any Transport, tell: @escaping @Sendable (Event) async -> Void) {
        let task = Task { [weak self] in
            do {
                let connection = try await transport.open(url)
                guard self?.adopt(connection) == true else { return connection.close() }
                await tell(.opened)
                while let text = await connection.receive() { await tell(.received(text)) }
                await tell(.closed(nil))
            } catch {
                await tell(.closed(Self.failure(error)))
            }
        }
        let isClosed = self.state.withLock { state in
            state.task = task
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    enum Event: Sendable {
        case opened
        case received(String)
        /// With the reason, if it did not open.
        case closed(ConnectionFailure?)
    }

    private static func failure(_ error: any Error) -> ConnectionFailure? {
        switch error {
        case let error as TransportError: ConnectionFailure(error.code, detail: error.description)
        case is CancellationError: nil
        default: ConnectionFailure(.unreachable, detail: "\(error)")
        }
    }

    private func adopt(_ connection: any TransportConnection) -> Bool {
        self.state.withLock { state in
            if !state.isClosed { state.connection = connection }
            return !state.isClosed
        }
    }

    func send(_ text: String) {
        self.state.withLock { $0.connection }?.send(text)
    }

    /// Closes it, or gives the attempt up.
    func close() {
        let (connection, task) = self.state.withLock { state -> ((any TransportConnection)?, Task<Void, Never>?) in
            if state.isClosed { return (nil, nil) }
            state.isClosed = true
            defer { state.connection = nil }
            return (state.connection, state.task)
        }
        // Cancelling is for the attempt: a connection may have to send its last messages.
        if let connection { connection.close() } else { task?.cancel() }
    }
}
