import NIOConcurrencyHelpers
import TouchSyncClient

/// A transport whose present connection can fail in the ways that networks do.
final class FaultyTransport: Transport {
    private let transport = PlatformTransport.make()
    private let latest = NIOLockedValueBox<FaultyConnection?>(nil)

    /// The present connection.
    var connection: FaultyConnection? { self.latest.withLockedValue { $0 } }

    func open(_ url: String) async throws -> any TransportConnection {
        let connection = FaultyConnection(try await self.transport.open(url))
        self.latest.withLockedValue { $0 = connection }
        return connection
    }

    func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
        Report.event("fetch", url)
        return try await self.transport.get(url, token: token, limit: limit)
    }
}

/// A connection over which nothing may come, or go.
final class FaultyConnection: TransportConnection {
    private struct Faults {
        var isDeaf = false
        var isMute = false
    }

    private let connection: any TransportConnection
    private let faults = NIOLockedValueBox(Faults())

    init(_ connection: any TransportConnection) {
        self.connection = connection
    }

    /// From now on nothing of what the server says arrives.
    func deafen() { self.faults.withLockedValue { $0.isDeaf = true } }

    /// From now on nothing of what the client says arrives.
    func mute() { self.faults.withLockedValue { $0.isMute = true } }

    func send(_ text: String) {
        if !self.faults.withLockedValue({ $0.isMute }) { self.connection.send(text) }
    }

    func receive() async -> String? {
        while let text = await self.connection.receive() {
            if !self.faults.withLockedValue({ $0.isDeaf }) { return text }
        }
        return nil
    }

    func close() { self.connection.close() }
}
