internal import FanoutCore
internal import Mesh
internal import Wire

/// Who is at the other end of the link. A peer is a gateway from its first record that only gateways send; a gateway
/// keeps its number when its link comes back.
struct GatewayTable {
    /// A gateway that is connected.
    struct Entry {
        let peer: PeerID
        var outbox: GatewayOutbox
    }

    private let outboxBytes: Int
    private var numbers: [Identifier: GatewayID] = [:]
    private var byPeer: [PeerID: GatewayID] = [:]
    private var lastNumber: UInt32 = 0
    /// Connected gateways.
    private(set) var entries: [GatewayID: Entry] = [:]

    /// Names that are not connected are forgotten beyond so many.
    private static let maxNames = 4096

    init(outboxBytes: Int) {
        self.outboxBytes = outboxBytes
    }

    subscript(gateway: GatewayID) -> Entry? {
        get { self.entries[gateway] }
        _modify { yield &self.entries[gateway] }
    }

    /// The gateway behind a peer, if it is known to be one.
    func gateway(of peer: PeerID) -> GatewayID? {
        self.byPeer[peer]
    }

    /// Learns that a peer is a gateway.
    /// - Returns: its number, and true when it was connected under the same name by another peer until now.
    mutating func connect(_ peer: PeerID, name: String) -> (gateway: GatewayID, wasThere: Bool) {
        let gateway = self.number(of: Identifier(name))
        let old = self.entries[gateway]?.peer
        if let old { self.byPeer[old] = nil }
        self.byPeer[peer] = gateway
        self.entries[gateway] = Entry(peer: peer, outbox: GatewayOutbox(maxBytes: self.outboxBytes))
        return (gateway, old != nil)
    }

    /// A peer is gone. Returns the gateway that it was.
    mutating func disconnect(_ peer: PeerID) -> GatewayID? {
        guard let gateway = self.byPeer.removeValue(forKey: peer) else { return nil }
        self.entries[gateway] = nil
        return gateway
    }

    private mutating func number(of name: Identifier) -> GatewayID {
        if let known = self.numbers[name] { return known }
        if self.numbers.count >= Self.maxNames {
            self.numbers = self.numbers.filter { self.entries[$0.value] != nil }
        }
        self.lastNumber &+= 1
        let gateway = GatewayID(self.lastNumber)
        self.numbers[name] = gateway
        return gateway
    }
}
