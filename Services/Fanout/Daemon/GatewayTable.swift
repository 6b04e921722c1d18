package import FanoutCore
package import Mesh
package import Stages
package import Timing
package import Wire

/// The gateways among the peers of the link, and what is on its way to each. A peer is a gateway from its first record that
/// only gateways send; a gateway keeps its number when its link comes back.
package struct GatewayTable {
    /// The outboxes of the gateways that are connected.
    package var outboxes: Outboxes<GatewayID>
    private var numbers: [Identifier: GatewayID] = [:]
    private var byPeer: [PeerID: GatewayID] = [:]
    private var peers: [GatewayID: PeerID] = [:]
    private var lastNumber: UInt32 = 0
    private var fields = ByteWriter()
    /// Signals that were dropped because gateways were slow.
    package private(set) var droppedSignals = 0

    /// The storage of a record's fields is used again up to this size, bytes.
    private static let keptBytes = 64 << 10
    /// The most names of gateways that are not connected; beyond it they are forgotten.
    private static let maxNames = 4096

    package init(outboxBytes: Int) {
        self.outboxes = Outboxes(.stream(bytes: outboxBytes))
    }

    /// The gateway behind a peer, if it is known to be one.
    func gateway(of peer: PeerID) -> GatewayID? { self.byPeer[peer] }

    /// A peer proved to be a gateway.
    /// - Returns: its number, and true when it was connected under the same name by another peer until now; nil when that
    ///   one came later: this is what a gateway said before it was killed, which took its time.
    package mutating func connect(_ peer: PeerID, name: String) -> (gateway: GatewayID, wasThere: Bool)? {
        let gateway = self.number(of: Identifier(name))
        let former = self.peers[gateway]
        if let former {
            guard former < peer else { return nil }
            self.byPeer[former] = nil
        }
        self.byPeer[peer] = gateway
        self.peers[gateway] = peer
        self.outboxes.linkUp(gateway)
        return (gateway, former != nil)
    }

    /// A peer disconnected. Returns its gateway.
    mutating func disconnect(_ peer: PeerID) -> GatewayID? {
        guard let gateway = self.byPeer.removeValue(forKey: peer) else { return nil }
        self.peers[gateway] = nil
        self.outboxes.linkDown(gateway)
        return gateway
    }

    /// Adds a record for a gateway, if it is up.
    package mutating func append(_ record: GatewayRecord, to gateway: GatewayID) {
        let isTaken = self.outboxes[gateway]?.append(record) { record.encode(into: &$0) }
        if isTaken == false { self.droppedSignals += 1 }
    }

    /// Adds a record for gateways that are up; it is encoded once.
    package mutating func append(_ record: GatewayRecord, to gateways: some Sequence<GatewayID>) {
        self.fields.bytes.removeAll(keepingCapacity: self.fields.bytes.capacity <= Self.keptBytes)
        record.encode(into: &self.fields)
        self.fields.bytes.withUnsafeBufferPointer { fields in
            for gateway in gateways {
                let isTaken = self.outboxes[gateway]?.append(record) { $0.bytes.append(contentsOf: fields) }
                if isTaken == false { self.droppedSignals += 1 }
            }
        }
    }

    /// Sends what waits, in order, until the links accept no more.
    package mutating func flush(at now: Instant, _ send: (EnvelopeWriter, PeerID) -> SendResult) {
        let peers = self.peers
        self.outboxes.flush(at: now) { envelope, gateway in peers[gateway].map { send(envelope, $0) } ?? .unroutable }
    }

    private mutating func number(of name: Identifier) -> GatewayID {
        if let known = self.numbers[name] { return known }
        if self.numbers.count >= Self.maxNames {
            self.numbers = self.numbers.filter { self.peers[$0.value] != nil }
        }
        self.lastNumber &+= 1
        let gateway = GatewayID(self.lastNumber)
        self.numbers[name] = gateway
        return gateway
    }
}

extension Outbox {
    /// Adds a record of a room's stream, or folds it into what waits for a gateway that is slow.
    /// - Parameter encode: appends the record's fields.
    /// - Returns: false for a signal that is dropped, as the gateway is slow.
    mutating func append(_ record: GatewayRecord, encode: (inout ByteWriter) -> Void) -> Bool {
        switch record {
        case .preview(let preview):
            self.append(latest: preview, encode: encode)
            return true
        case .awareness(let awareness): if self.hold(awareness) { return true }
        case .signal: if self.isBlocked { return false }
        case .update(let update): self.remove(update.endedPreviews)
        case .gestureEnded(let ended): self.remove([ended.gesture.endedPreviews])
        default: break
        }
        self.append(record.kind, encode: encode)
        return true
    }
}
