import Boot
import SocketIOServer
import Stages

/// Follows the set of gateways while this one runs: it relays requests for the sessions of those that are in it.
struct NeighbourWatch {
    /// The others, each time that they change: the latest only.
    let changes: AsyncStream<[String: SocketIOServer.Neighbour]>
    private let continuation: AsyncStream<[String: SocketIOServer.Neighbour]>.Continuation
    private let name: String
    private let note: HealthNote

    /// - Parameter context: names this gateway.
    init(_ context: DaemonContext) {
        (self.changes, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.name = context.name
        self.note = context.health.note("own gateway")
    }

    /// Follows the source of the set.
    func follow(_ gateways: InstanceList<HostAddress>, on watch: inout SetWatch) {
        guard !gateways.source.isEmpty else { return }
        self.review(gateways.addresses)
        watch.follow(gateways, SharedSettings.gateways.name) { [self] addresses in
            self.review(addresses)
            self.continuation.yield(SocketIOServer.neighbours(addresses))
        }
    }

    /// Others relay nothing to a gateway that they do not know: its sessions are found only through a proxy that keeps
    /// clients where they are.
    private func review(_ gateways: [HostAddress]) {
        let isListed = gateways.contains { $0.name == self.name }
        self.note.say(isListed ? nil : "the set of gateways does not name this one, \"\(self.name)\"")
    }
}

extension SocketIOServer {
    /// Gateways as neighbours, by the beginning of their sessions' ids.
    static func neighbours(_ gateways: [HostAddress]) -> [String: Neighbour] {
        Dictionary(
            gateways.map { ("\($0.name).", Neighbour(host: $0.host, port: $0.port, name: $0.name)) },
            uniquingKeysWith: { first, _ in first })
    }
}
