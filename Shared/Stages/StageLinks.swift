package import Boot
package import Mesh
package import Wire

/// The dialled links to all instances of one stage, and the owner of each shard among those that are up.
///
/// Instances are identified by their index in the settings. All decisions are made by values; this class only carries
/// events in and envelopes out.
package final class StageLinks {
    /// What happened on one of the links.
    package enum Event {
        /// The instance came up and greeted with these bytes; shards may have moved.
        case up(Int, greeting: [UInt8])
        /// It went down; shards may have moved.
        case down(Int)
        /// It began or ceased to rest; shards may have moved.
        case resting(Int)
        /// It accepts messages again after `wouldBlock`.
        case writable(Int)
        /// It sent an envelope, valid during the call.
        case envelope(Int, UnsafeRawBufferPointer)
    }

    /// The stage at the other end.
    package let stage: Stage
    /// Which instance owns which shard.
    package private(set) var owners: ShardOwners
    private let links: [PeerLink]

    /// Creates a link to each address; they start dialling in the reactor's next turn.
    /// - Parameter lane: the lane of a stage that has several; nil is the one at the address itself.
    /// - Throws: ``MeshError`` for a bad endpoint.
    package init(
        on thread: ReactorThread, to stage: Stage, _ addresses: [PeerAddress], lane: String? = nil,
        identity: LinkIdentity, options: LinkOptions = LinkOptions()
    ) throws {
        self.stage = stage
        self.owners = ShardOwners(names: addresses.map(\.name))
        self.links = try addresses.map { address in
            let base = try Endpoint(address.endpoint)
            let endpoint = try lane.map { try base.lane($0) } ?? base
            return try PeerLink(
                on: thread, to: endpoint, expecting: ExpectedPeer(stage.role, address.name), identity: identity,
                options: options)
        }
    }

    /// The instance that owns a room's shard; nil when none is up.
    package func owner(of room: Identifier) -> Int? { self.owners.owner(of: room) }

    /// The instance that owns a shard; nil when none is up.
    package func owner(of shard: Int) -> Int? { self.owners.owner(of: shard) }

    /// How many times links were reopened.
    package var reconnects: UInt64 { self.links.reduce(0) { $0 &+ $1.counters.reconnects } }

    /// True while an instance is up but resting.
    package func isResting(_ instance: Int) -> Bool { self.links[instance].isResting }

    /// Sends one envelope to an instance.
    package func send(_ envelope: [UInt8], to instance: Int) -> SendResult {
        self.links[instance].send(envelope)
    }

    /// Reads the links' events.
    package func read(_ act: (Event) -> Void) {
        for instance in self.links.indices { self.read(instance, act) }
    }

    private func read(_ instance: Int, _ act: (Event) -> Void) {
        let link = self.links[instance]
        while let event = link.next() {
            switch event {
            case .up(let hello): self.changed(instance, .up(instance, greeting: hello.greeting), act)
            case .down: self.changed(instance, .down(instance), act)
            case .resting: self.changed(instance, .resting(instance), act)
            case .writable: act(.writable(instance))
            case .message: link.incoming.withBytes(at: 0) { act(.envelope(instance, $0)) }
            }
        }
    }

    private func changed(_ instance: Int, _ event: Event, _ act: (Event) -> Void) {
        self.owners.changed(instance, self.links[instance].state)
        act(event)
    }
}

extension PeerLink {
    /// The peer's state for the choice of owners.
    package var state: ShardOwners.InstanceState { self.peer == nil ? .isGone : self.isResting ? .rests : .serves }
}

extension LinkIdentity {
    /// The identity of a daemon's link.
    /// - Parameter credit: the initial credit of each sender on a link that accepts commits, part of its greeting.
    package init(daemon name: String, credit: CommitCredit? = nil) {
        self.init(name: name, protocolVersion: UInt16(EnvelopeWriter.version), greeting: credit.map(\.greeting) ?? [])
    }
}
