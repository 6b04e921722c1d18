package import FanoutCore
package import Mesh
internal import Wire

/// The gateways among the peers of the link. A peer is a gateway from its first record that only gateways send; a
/// gateway keeps its number when its link comes back.
package struct GatewayTable {
    /// A gateway that is connected.
    package struct Entry {
        /// Its number in the core.
        package let id: GatewayID
        /// Its end of the link.
        package let peer: PeerID
        /// What is on its way to it.
        package var outbox: GatewayOutbox
    }

    private let outboxBytes: Int
    private var numbers: [Identifier: GatewayID] = [:]
    private var byPeer: [PeerID: GatewayID] = [:]
    private var lastNumber: UInt32 = 0
    /// Connected gateways, in no order. What leaves is written where it stands.
    package var entries: [Entry] = []
    private var indices: [GatewayID: Int] = [:]

    /// Signals that were dropped on their way to gateways that are not connected any more.
    private var formerDroppedSignals = 0
    /// Signals that were dropped because gateways were slow.
    var droppedSignals: Int { self.entries.reduce(self.formerDroppedSignals) { $0 + $1.outbox.droppedSignals } }

    /// The most names of gateways that are not connected; beyond it they are forgotten.
    private static let maxNames = 4096

    init(outboxBytes: Int) {
        self.outboxBytes = outboxBytes
    }

    /// The index of a gateway's entry; nil when it is not connected. Valid until one comes or goes.
    func index(of gateway: GatewayID) -> Int? {
        // Nearly always there is one, or very few.
        if let first = self.entries.first, first.id == gateway { return 0 }
        return self.indices[gateway]
    }

    /// The gateway behind a peer, if it is known to be one.
    func gateway(of peer: PeerID) -> GatewayID? {
        self.byPeer[peer]
    }

    /// A peer proved to be a gateway.
    /// - Returns: its number, and true when it was connected under the same name by another peer until now; nil when that
    ///   one came later: this is what a gateway said before it was killed, which took its time.
    mutating func connect(_ peer: PeerID, name: String) -> (gateway: GatewayID, wasThere: Bool)? {
        let gateway = self.number(of: Identifier(name))
        let entry = Entry(id: gateway, peer: peer, outbox: GatewayOutbox(maxBytes: self.outboxBytes))
        guard let index = self.indices[gateway] else {
            self.byPeer[peer] = gateway
            self.indices[gateway] = self.entries.count
            self.entries.append(entry)
            return (gateway, false)
        }
        guard self.entries[index].peer.serial < peer.serial else { return nil }
        self.byPeer[self.entries[index].peer] = nil
        self.byPeer[peer] = gateway
        self.formerDroppedSignals += self.entries[index].outbox.droppedSignals
        self.entries[index] = entry
        return (gateway, true)
    }

    /// A peer disconnected. Returns its gateway.
    mutating func disconnect(_ peer: PeerID) -> GatewayID? {
        guard let gateway = self.byPeer.removeValue(forKey: peer), let index = self.indices.removeValue(forKey: gateway)
        else { return nil }
        self.formerDroppedSignals += self.entries[index].outbox.droppedSignals
        self.entries.swapAt(index, self.entries.count - 1)
        self.entries.removeLast()
        if index < self.entries.count { self.indices[self.entries[index].id] = index }
        return gateway
    }

    private mutating func number(of name: Identifier) -> GatewayID {
        if let known = self.numbers[name] { return known }
        if self.numbers.count >= Self.maxNames {
            self.numbers = self.numbers.filter { self.indices[$0.value] != nil }
        }
        self.lastNumber &+= 1
        let gateway = GatewayID(self.lastNumber)
        self.numbers[name] = gateway
        return gateway
    }
}
