internal import Boot
internal import Mesh
internal import Wire

/// The dialled links to all fan-outs: each shard's updates go to the fan-out that owns the shard.
///
/// An update that cannot be sent is dropped: the fan-out sees the hole, or the shard's new head, and reads the log.
final class FanoutLane {
    private let names: [String]
    private let links: [PeerLink]
    private let telemetry: CommitterTelemetry
    private var owners = ShardOwners(shards: Shard.count)
    /// The place of each shard's owner among the links.
    private var places = [Int?](repeating: nil, count: Shard.count)
    private var outboxes: [Outbox]

    init(
        on thread: ReactorThread, _ addresses: [PeerAddress], identity: LinkIdentity, options: LinkOptions,
        outboxLimit: Int, telemetry: CommitterTelemetry
    ) throws {
        self.names = addresses.map(\.name)
        self.links = try addresses.map { address in
            try PeerLink(on: thread, to: Endpoint(address.endpoint), identity: identity, options: options)
        }
        self.outboxes = addresses.map { _ in Outbox(limit: outboxLimit) }
        self.telemetry = telemetry
    }

    /// How many fan-outs are up.
    var upCount: Int { self.links.count { $0.peer != nil } }

    /// How many times links were opened again.
    var reconnects: UInt64 { self.links.reduce(0) { $0 &+ $1.counters.reconnects } }

    /// Reads what the links have to say; nothing else comes back over them.
    func read() {
        for (place, link) in self.links.enumerated() {
            while let event = link.next() {
                switch event {
                case .up, .resting: self.weigh(place)
                case .down:
                    self.outboxes[place].drop()
                    self.weigh(place)
                case .writable, .message: break
                }
            }
        }
    }

    private func weigh(_ place: Int) {
        self.owners.changed(self.names[place], self.links[place].state)
        self.places = (0..<Shard.count).map { self.owners.owner(of: $0).flatMap(self.names.firstIndex) }
    }

    /// Takes an update; it leaves with the next ``flush()``.
    func send(_ update: Update) {
        guard let owner = self.places[Int(update.shard)] else { return self.telemetry.updatesDropped(1) }
        self.outboxes[owner].append(update)
        self.telemetry.updatePublished()
    }

    /// Sends what was taken, and tries again what a link did not take before.
    func flush() {
        for place in self.outboxes.indices where !self.outboxes[place].isEmpty {
            self.outboxes[place].flush { self.links[place].send($0) }
            let dropped = self.outboxes[place].takeDropped()
            if dropped > 0 { self.telemetry.updatesDropped(dropped) }
        }
    }

    /// True when no update waits.
    var isEmpty: Bool { self.outboxes.allSatisfy(\.isEmpty) }
}
