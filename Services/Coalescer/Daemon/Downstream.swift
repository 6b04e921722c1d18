internal import Boot
internal import Mesh
internal import Wire

/// The instances of one stage after this one: a link to each, and which of those that are up owns which shard.
///
/// An instance that rests gets nothing while another of its stage does not (``ShardOwners``).
final class Downstream {
    /// What a link has to say that its owner must act on.
    enum News {
        /// The instance came up and greeted with these bytes; shards may have moved.
        case up(Int, greeting: [UInt8])
        /// It went down; shards may have moved.
        case down(Int)
        /// It takes messages again.
        case writable(Int)
        /// It sent a message, valid during the call.
        case message(Int, Frames)
    }

    /// The instances' names, as the settings have them.
    let names: [String]
    private let links: [PeerLink]
    private var owners = ShardOwners(shards: Shard.count)
    /// The place of each shard's owner among the links.
    private var places = [Int?](repeating: nil, count: Shard.count)
    /// How many times an instance came up, went down, rested or served again.
    private(set) var changes = 0

    init(
        on thread: ReactorThread, _ addresses: [PeerAddress], identity: LinkIdentity, options: LinkOptions
    ) throws {
        self.names = addresses.map(\.name)
        self.links = try addresses.map { address in
            try PeerLink(on: thread, to: Endpoint(address.endpoint), identity: identity, options: options)
        }
    }

    /// How many instances are up.
    var upCount: Int { self.links.count { $0.peer != nil } }

    /// How many times links were opened again.
    var reconnects: UInt64 { self.links.reduce(0) { $0 &+ $1.counters.reconnects } }

    /// The place of the instance that owns a room's shard; nil when none is up.
    func owner(of room: Identifier) -> Int? {
        self.places[Shard.of(room: room)]
    }

    /// Sends one envelope to an instance.
    func send(_ envelope: [UInt8], to instance: Int) -> SendResult {
        self.links[instance].send(envelope)
    }

    /// Reads what the links have to say.
    func read(_ act: (News) -> Void) {
        for (instance, link) in self.links.enumerated() {
            while let event = link.next() {
                switch event {
                case .up(let hello):
                    self.weigh(instance)
                    act(.up(instance, greeting: hello.greeting))
                case .down:
                    self.weigh(instance)
                    act(.down(instance))
                case .resting: self.weigh(instance)
                case .writable: act(.writable(instance))
                case .message: act(.message(instance, link.incoming))
                }
            }
        }
    }

    private func weigh(_ instance: Int) {
        self.changes += 1
        self.owners.changed(self.names[instance], self.links[instance].state)
        self.places = (0..<Shard.count).map { self.owners.owner(of: $0).flatMap(self.names.firstIndex) }
    }
}
