package import TouchSyncClient

/// A transport that shows every message from the server to an observer before the client reads it.
package struct ObservedTransport: Transport {
    private let transport: any Transport
    private let observe: @Sendable (String) -> Void

    /// - Parameter observe: called with each message, in order.
    package init(_ transport: any Transport, observe: @escaping @Sendable (String) -> Void) {
        self.transport = transport
        self.observe = observe
    }

    package func open(_ url: String) async throws -> any TransportConnection {
        Connection(connection: try await self.transport.open(url), observe: self.observe)
    }

    package func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
        try await self.transport.get(url, token: token, limit: limit)
    }

    private struct Connection: TransportConnection {
        let connection: any TransportConnection
        let observe: @Sendable (String) -> Void

        func send(_ text: String) { self.connection.send(text) }

        func receive() async -> String? {
            let text = await self.connection.receive()
            if let text { self.observe(text) }
            return text
        }

        func close() { self.connection.close() }
    }
}
