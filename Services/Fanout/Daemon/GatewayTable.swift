internal import FanoutCore
internal import Mesh
internal import Wire

/// Who is at the other end of the link. A peer is a gateway from its first record that only gateways send; a gateway
/// keeps its number when its link comes back.
struct GatewayTable {
    /// A gateway that is connected.
    struct Entry {
        let id: GatewayID
        let peer: PeerID
        var outbox: GatewayOutbox
    }

    private let outboxBytes: Int
    private var numbers: [Identifier: GatewayID] = [:]
    private var byPeer: [PeerID: GatewayID] = [:]
    private var lastNumber: UInt32 = 0
    /// Connected gateways, in no order. What leaves is written where it stands.
    var entries: [Entry] = []
    private var places: [GatewayID: Int] = [:]

    /// Names that are not connected are forgotten beyond so many.
    private static let maxNames = 4096

    init(outboxBytes: Int) {
        self.outboxBytes = outboxBytes
    }

    /// Where a gateway's entry is; nil when it is not connected. Good until one comes or goes.
    func place(of gateway: GatewayID) -> Int? {
        // Nearly always there is one, or very few.
        if let first = self.entries.first, first.id == gateway { return 0 }
        return self.places[gateway]
    }

    /// The gateway behind a peer, if it is known to be one.
    func gateway(of peer: PeerID) -> GatewayID? {
        self.byPeer[peer]
    }

    /// Learns that a peer is a gateway.
    /// - Returns: its number, and true when it was connected under the same name by another peer until now.
    mutating func connect(_ peer: PeerID, name: String) -> (gateway: GatewayID, wasThere: Bool) {
        let gateway = self.number(of: Identifier(name))
        let entry = Entry(id: gateway, peer: peer, outbox: GatewayOutbox(maxBytes: self.outboxBytes))
        defer { self.byPeer[peer] = gateway }
        guard let place = self.places[gateway] else {
            self.places[gateway] = self.entries.count
            self.entries.append(entry)
            return (gateway, false)
        }
        self.byPeer[self.entries[place].peer] = nil
        self.entries[place] = entry
        return (gateway, true)
    }

    /// A peer is gone. Returns the gateway that it was.
    mutating func disconnect(_ peer: PeerID) -> GatewayID? {
        guard let gateway = self.byPeer.removeValue(forKey: peer), let place = self.places.removeValue(forKey: gateway)
        else { return nil }
        self.entries.swapAt(place, self.entries.count - 1)
        self.entries.removeLast()
        if place < self.entries.count { self.places[self.entries[place].id] = place }
        return gateway
    }

    private mutating func number(of name: Identifier) -> GatewayID {
        if let known = self.numbers[name] { return known }
        if self.numbers.count >= Self.maxNames {
            self.numbers = self.numbers.filter { self.places[$0.value] != nil }
        }
        self.lastNumber &+= 1
        let gateway = GatewayID(self.lastNumber)
        self.numbers[name] = gateway
        return gateway
    }
}
