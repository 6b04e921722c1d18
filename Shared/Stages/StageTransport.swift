internal import Boot
package import Mesh
package import Timing
package import Trust
package import Wire

/// What happened on a connection of a daemon that dials this one.
package enum PeerEvent {
    case up(PeerID, name: String)
    case down(PeerID)
    /// It accepts envelopes again.
    case writable(PeerID)
    /// It sent an envelope, whose bytes are valid during the call. The roles are its own as far as its link proves them.
    case envelope(PeerID, PeerRoles, UnsafeRawBufferPointer)
}

/// What brings a stage its events and takes its envelopes and requests: ``MeshTransport``, or a simulated network.
package protocol StageTransport<Request, News>: AnyObject {
    associatedtype Request
    associatedtype News

    /// The wall clock, ms since 1970.
    var time: Double { get }

    /// Reads what the database has answered.
    func readDatabase(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void)
    /// Sends a request to the database; false when it cannot be sent.
    func ask(_ request: Request, at now: Instant) -> Bool
    /// Reads what happened on the links to the next stage.
    func readLinks(_ act: (StageLinks.Event) -> Void)
    /// Reads what peers did.
    /// - Returns: true when more may be there than the limit allows.
    func readPeers(envelopes limit: Int, _ act: (PeerEvent) -> Void) -> Bool
    /// Tells peers whether they should prefer other instances.
    func rest(_ isResting: Bool)
    /// Sends an envelope to a peer.
    func send(_ envelope: EnvelopeWriter, to peer: PeerID) -> SendResult
    /// Sends an envelope to an instance of the next stage.
    func send(_ envelope: EnvelopeWriter, on instance: Int) -> SendResult
    /// Accepts nothing from peers any more.
    func closeIntake()
    /// Registers what to wait for. Last in every turn.
    /// - Returns: when the next turn is due for the transport's own sake.
    func poll() -> Instant?
}

/// A stage's connections to PostgreSQL, in its daemon's thread.
package protocol StageDatabase<Request, News>: AnyObject {
    associatedtype Request
    associatedtype News

    func turn(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void)
    func ask(_ request: Request, at now: Instant) -> Bool
    func poll() -> Instant?
}

/// Of a stage that has none.
package final class NoDatabase: StageDatabase {
    package init() {}
    package func turn(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (Never) -> Void) {}
    package func ask(_ request: Never, at now: Instant) -> Bool {}
    package func poll() -> Instant? { nil }
}

/// A stage's links and database in its daemon's thread.
package final class MeshTransport<Database: StageDatabase>: StageTransport {
    package typealias Request = Database.Request
    package typealias News = Database.News

    private let peers: ServerLink
    /// The links to the next stage; nil for the last one.
    private let instances: StageLinks?
    package let database: Database
    private let onSent: (EnvelopeWriter) -> Void

    /// - Parameter onSent: hears of every envelope that left.
    package init(
        peers: ServerLink, instances: StageLinks? = nil, database: Database,
        onSent: @escaping (EnvelopeWriter) -> Void = { _ in }
    ) {
        self.peers = peers
        self.instances = instances
        self.database = database
        self.onSent = onSent
    }

    /// How many times links to the next stage were reopened.
    package var reconnects: UInt64 { self.instances?.reconnects ?? 0 }
    package var time: Double { WallClock.exactMilliseconds() }

    package func readDatabase(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void) {
        self.database.turn(at: now, isWanted: isWanted, act)
    }

    package func ask(_ request: Request, at now: Instant) -> Bool { self.database.ask(request, at: now) }

    package func readLinks(_ act: (StageLinks.Event) -> Void) { self.instances?.read(act) }

    package func readPeers(envelopes limit: Int, _ act: (PeerEvent) -> Void) -> Bool {
        var left = limit
        while left > 0 {
            switch self.peers.next() {
            case .peerUp(let peer, let hello): act(.up(peer, name: hello.name))
            case .peerDown(let peer, _): act(.down(peer))
            case .writable(let peer): act(.writable(peer))
            case .message(let peer):
                left -= 1
                let roles = self.peers.roles(of: peer)
                self.peers.incoming.withBytes(at: 0) { act(.envelope(peer, roles, $0)) }
            case nil: return false
            }
        }
        return true
    }

    package func rest(_ isResting: Bool) { self.peers.isResting = isResting }

    package func send(_ envelope: EnvelopeWriter, to peer: PeerID) -> SendResult {
        self.counted(envelope, self.peers.send(envelope.bytes, to: peer))
    }

    package func send(_ envelope: EnvelopeWriter, on instance: Int) -> SendResult {
        self.counted(envelope, self.instances?.send(envelope.bytes, to: instance) ?? .unroutable)
    }

    private func counted(_ envelope: EnvelopeWriter, _ result: SendResult) -> SendResult {
        if result == .sent { self.onSent(envelope) }
        return result
    }

    package func closeIntake() { self.peers.close() }

    package func poll() -> Instant? { self.database.poll() }
}
