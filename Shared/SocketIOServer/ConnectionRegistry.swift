internal import NIOCore

/// The open TCP connections of a server, and the limits on their number.
final class ConnectionRegistry {
    let loop: ServerLoop
    private let relays: Relays
    private var connections: [ObjectIdentifier: PeerHandler] = [:]
    private var countsByAddress: [AddressKey: Int] = [:]

    init(_ loop: ServerLoop, _ relays: Relays) {
        self.loop = loop
        self.relays = relays
    }

    var count: Int { self.connections.count }

    var all: [PeerHandler] { Array(self.connections.values) }

    /// Adds a connection; false when it exceeds a limit. It must be removed in either case.
    func add(_ connection: PeerHandler, from address: AddressKey?) -> Bool {
        self.loop.statistics.connections += 1
        self.connections[ObjectIdentifier(connection)] = connection
        var isWithinLimits = self.count <= self.loop.configuration.maxConnections
        if let address {
            self.countsByAddress[address, default: 0] += 1
            let limit = self.loop.configuration.maxConnectionsPerAddress
            if self.countsByAddress[address, default: 0] > limit, !self.relays.isNeighbour(address) {
                isWithinLimits = false
            }
        }
        if !isWithinLimits { self.loop.statistics.refusedConnections += 1 }
        return isWithinLimits
    }

    /// Removes a connection, if it was added.
    func remove(_ connection: PeerHandler, from address: AddressKey?) {
        guard self.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil, let address else { return }
        let count = (self.countsByAddress[address] ?? 1) - 1
        self.countsByAddress[address] = count > 0 ? count : nil
    }
}
