internal import DequeModule
internal import Logging
internal import Timing
package import Trust

/// A bound link: one ROUTER, any number of dialling peers.
///
/// Confined to its reactor's thread. In every turn call `next()` until it is nil. A peer exists from `peerUp` to
/// `peerDown`; in between its messages arrive in order, each once, and it can be sent to. Messages from unknown peers
/// are dropped and counted, and the sender is asked to greet again.
package final class ServerLink {
    package enum Event: Equatable {
        /// A peer greeted and was admitted.
        case peerUp(PeerID, Hello)
        /// It is gone, for this reason. All messages that it sent before were delivered.
        case peerDown(PeerID, LinkLoss)
        case message(PeerID)
        /// Sends may be accepted again after `wouldBlock`: retry.
        case writable(PeerID)
    }

    /// The endpoint it listens on, with the port that the system chose, if it was 0.
    package let endpoint: Endpoint
    package private(set) var counters = LinkCounters()
    /// The frames of the message that `next` has just returned, valid until the next call.
    package let incoming: Frames
    /// Sent to peers that come up from now on.
    package var greeting: [UInt8] {
        get { self.identity.greeting }
        set { self.identity.greeting = newValue }
    }

    /// True while this side cannot do its work. Peers are notified immediately, and before the hello; those with a
    /// choice prefer other instances. The link stays up and keeps accepting messages.
    package var isResting = false {
        didSet {
            guard self.isResting != oldValue else { return }
            self.untold = Set(self.roster.ids)
            self.tellRest()
        }
    }

    private let thread: ReactorThread
    /// The roles of peers that may connect; looked at where keys prove them.
    private let served: PeerRoles
    private let isGuarded: Bool
    private var identity: LinkIdentity
    private let instance = UInt64.random(in: 0 ... .max)
    private var roster: PeerRoster
    private var connection: LinkConnection?
    private var pending = Deque<Event>()
    private var budget = 0
    private var now: Instant { self.thread.now }
    private let silenceLimit: Nanoseconds
    private var blockedRetry: Instant?
    private var forgottenAt = Instant.start
    /// Peers that have not been notified of a change of `isResting` yet.
    private var untold: Set<PeerID> = []

    /// Binds and registers the link.
    /// - Parameters:
    ///   - roles: of the peers that may connect. Matters on TCP if the reactor has keys, which then prove them.
    ///   - maximumPeers: further peers are turned away.
    /// - Throws: `addressInUse`, `invalidEndpoint`, `invalidOption`, `system`.
    package init(
        on thread: ReactorThread, bind endpoint: Endpoint, identity: LinkIdentity, options: LinkOptions = LinkOptions(),
        liveness: LivenessSettings = LivenessSettings(), admitting roles: PeerRoles = .all, maximumPeers: Int = 256
    ) throws(MeshError) {
        if let problem = liveness.problem { throw MeshError(.invalidOption, problem) }
        let security = thread.security(binding: endpoint, admitting: roles)
        var socket = try Socket(
            .router, context: thread.context, thread: thread, options: options, security: security)
        let monitor = try SocketMonitor(
            socket.core, context: thread.context, thread: thread, serial: thread.nextSerial())
        self.endpoint = try socket.bind(endpoint)
        self.thread = thread
        self.served = roles
        self.isGuarded = security != nil
        self.identity = identity
        self.silenceLimit = Nanoseconds(liveness.silence)
        self.roster = PeerRoster(maximum: maximumPeers, settings: liveness, seed: .random(in: 0 ... .max))
        // Two parts in addition to the user's: routing id and kind.
        self.incoming = Frames(capacity: LinkOptions.maximumFrames + 2)
        self.connection = LinkConnection(socket, monitor)
        thread.register(self)
        thread.logger.info("link bound", metadata: self.metadata([:]))
    }

    package var peers: [PeerID] { self.roster.ids }

    package func hello(of peer: PeerID) -> Hello? { self.roster[peer]?.hello }

    /// The roles in which the peer may send: those of its key, all of them on a link without keys, none when it is not
    /// up.
    package func roles(of peer: PeerID) -> PeerRoles {
        guard let entry = self.roster[peer] else { return [] }
        return entry.credential?.roles ?? .all
    }

    /// Ends the link: sends a goodbye to all peers and their queues for as long as LINGER allows. No more events.
    package func close() {
        guard self.connection != nil else { return }
        for peer in self.roster.ids { _ = self.send(.goodbye, to: peer) }
        for peer in self.roster.ids { self.roster.remove(peer) }
        self.connection = nil
        self.pending.removeAll()
        self.thread.unregister(self)
    }

    // MARK: Events

    /// The next event; nil when there is none in this turn.
    package func next() -> Event? {
        if let event = self.pending.popFirst() { return event }
        guard let connection = self.connection else { return nil }
        while self.budget > 0, connection.socket.core.isReadable {
            self.budget -= 1
            switch connection.socket.receive(into: self.incoming) {
            case .message:
                if let peer = self.handle(connection) { return .message(peer) }
                if let event = self.pending.popFirst() { return event }
            case .tooManyFrames:
                self.counters.droppedFrames += 1
            case .empty, .terminated:
                break
            }
        }
        self.readingEnded(isEmpty: !connection.socket.core.isReadable)
        return self.pending.popFirst()
    }

    // The sender when the message is for the user. Parts: routing id, kind, frames.
    private func handle(_ connection: LinkConnection) -> PeerID? {
        let frames = self.incoming
        guard frames.filled >= 2 else {
            self.counters.droppedMalformed += 1
            return nil
        }
        let kind = frames.withPart(1) { $0.count == 1 ? FrameKind(rawValue: $0[0]) : nil }
        if kind == .hello, frames.filled == 3 {
            self.helloReceived(connection)
            return nil
        }
        let isKnownShape =
            switch kind {
            case .data: frames.filled > 2
            case .beat, .goodbye: frames.filled == 2
            case .hello, .refusal, .rest, nil: false
            }
        guard isKnownShape else {
            self.counters.droppedMalformed += 1
            return nil
        }
        guard let peer = frames.withPart(0, { self.roster.find($0) }), self.isSender(peer) else {
            if kind != .goodbye { self.strangerSpoke(connection) }
            return nil
        }
        self.roster.heard(peer, at: self.now)
        if kind == .goodbye { self.drop(peer, .goodbye) }
        guard kind == .data else { return nil }
        frames.skipped = 2
        self.counters.received(frames)
        return peer
    }

    // A routing id alone is only a claim: it is free again as soon as its connection has closed.
    private func isSender(_ peer: PeerID) -> Bool {
        guard self.isGuarded else { return true }
        guard let credential = self.roster[peer]?.credential else { return false }
        return self.incoming.withUserID { credential.userID.elementsEqual($0) }
    }

    /// The key of the sender of `incoming` and the roles in which it may use a name.
    private func credential(for name: String) -> PeerRoster.Credential? {
        guard let key = self.incoming.senderKey else { return nil }
        let roles = self.thread.peers.roles(of: key, named: name).intersection(self.served)
        return roles.isEmpty ? nil : PeerRoster.Credential(key: key, roles: roles)
    }

    private func helloReceived(_ connection: LinkConnection) {
        let frames = self.incoming
        do throws(Hello.Failure) {
            let hello = try frames.withPart(2) { bytes throws(Hello.Failure) in
                try Hello(bytes)
            }
            let credential = self.isGuarded ? self.credential(for: hello.name) : nil
            if self.isGuarded, credential == nil { return self.forbid(.name, hello, connection) }
            guard self.identity.versions.overlaps(hello.versions) else {
                return self.refuse(connection, hello.name, speaking: hello.versions.text)
            }
            let descriptor = frames.descriptorOfSender
            let admission = frames.withPart(0) {
                self.roster.admit(hello, routingID: $0, descriptor: descriptor, credential: credential, at: self.now)
            }
            if admission == .taken { return self.forbid(.taken, hello, connection) }
            self.admitted(admission, hello, connection)
        } catch {
            switch error {
            case .malformed: self.counters.droppedMalformed += 1
            case .meshVersion(let version):
                self.refuse(connection, "a peer", speaking: "other links, \(version)")
            }
        }
    }

    private func admitted(_ admission: PeerRoster.Admission, _ hello: Hello, _ connection: LinkConnection) {
        guard case .admitted(let peer, let replaced) = admission else {
            self.counters.turnedAway += 1
            self.answer(connection, .goodbye)
            return
        }
        for old in replaced { self.report(old, .replaced) }
        let answer = Hello(self.identity, instance: self.instance, incarnation: 0).encoded()
        if self.isResting { self.answer(connection, .rest) }
        guard self.answer(connection, .hello, with: answer) == .sent else {
            self.roster.remove(peer)
            return
        }
        self.thread.cameUp(hello.name)
        self.counters.ups += 1
        self.pending.append(.peerUp(peer, hello))
        let version = self.identity.versions.newest(with: hello.versions).map { "\($0)" } ?? "none"
        self.thread.logger.info(
            "peer up",
            metadata: self.metadata([
                "mesh.peer": "\(hello.name)", "mesh.peer.id": "\(peer)", "mesh.version": "\(version)",
            ]))
    }

    // The peer retries, with growing pauses, until the peers file allows it or the name is free.
    private func forbid(_ reason: LinkRefusal, _ hello: Hello, _ connection: LinkConnection) {
        self.answer(connection, .goodbye)
        let key = self.incoming.senderKey?.description ?? "none"
        self.thread.refused(
            reason, self.metadata(["mesh.peer": "\(hello.name)", "mesh.key": "\(key)"]))
    }

    private func refuse(_ connection: LinkConnection, _ peer: String, speaking versions: String) {
        self.counters.refused += 1
        self.answer(connection, .refusal, with: VersionRefusal(self.identity.versions).encoded)
        self.thread.refused(peer, speaking: versions, own: self.identity.versions, self.metadata([:]))
    }

    // A peer that was removed (it was frozen, say) or never greeted: asks it to greet again.
    private func strangerSpoke(_ connection: LinkConnection) {
        self.counters.droppedUnknown += 1
        guard self.now >= self.forgottenAt + .milliseconds(10) else { return }
        self.forgottenAt = self.now
        self.answer(connection, .goodbye)
    }

    private func readingEnded(isEmpty: Bool) {
        for (peer, reason) in self.roster.readingEnded(isEmpty: isEmpty, at: self.now) {
            // Its connection may still exist, with an old backlog; if it resumes, it will be asked to greet again.
            self.report(peer, reason)
        }
    }

    private func drop(_ peer: PeerID, _ reason: LinkLoss) {
        if self.roster.remove(peer) { self.report(peer, reason) }
    }

    private func report(_ peer: PeerID, _ reason: LinkLoss) {
        self.counters.downs += 1
        self.pending.append(.peerDown(peer, reason))
        self.thread.logger.info(
            "peer down", metadata: self.metadata(["mesh.peer.id": "\(peer)", "mesh.loss": "\(reason)"]))
    }

    // MARK: Sending

    /// Sends a message of one frame.
    package func send(_ frame: [UInt8], to peer: PeerID) -> SendResult {
        frame.withUnsafeBytes { self.send(copying: $0, to: peer) }
    }

    /// Sends a message of one frame, copying the bytes during the call.
    package func send(copying frame: UnsafeRawBufferPointer, to peer: PeerID) -> SendResult {
        var result = self.send(.data, to: peer, more: true)
        if result == .sent, let connection = self.connection { result = connection.socket.send(frame) }
        self.counters.sent(result, bytes: frame.count)
        switch result {
        case .sent: self.roster.sent(peer, at: self.now)
        case .wouldBlock: self.awaitRoom(for: peer)
        case .unroutable: break
        }
        return result
    }

    /// Sends a message's kind; `more` announces its frames.
    private func send(_ kind: FrameKind, to peer: PeerID, more: Bool = false) -> SendResult {
        guard let connection = self.connection, let entry = self.roster[peer] else { return .unroutable }
        let result = entry.routingID.withUnsafeBytes { connection.socket.send($0, more: true) }
        return result == .sent ? connection.send(kind, more: more) : result
    }

    // Sends the next beat early. A peer whose queue is full is notified when it has room again.
    private func tellRest() {
        for peer in self.untold {
            let result = self.send(self.beat, to: peer)
            if result == .wouldBlock { self.awaitRoom(for: peer) } else { self.untold.remove(peer) }
        }
    }

    private var beat: FrameKind { self.isResting ? .rest : .beat }

    // Sends to the sender of the message in `incoming`.
    @discardableResult
    private func answer(_ connection: LinkConnection, _ kind: FrameKind, with body: [UInt8]? = nil) -> SendResult {
        var result = self.incoming.withPart(0) { connection.socket.send($0, more: true) }
        guard result == .sent else { return result }
        result = connection.send(kind, more: body != nil)
        if let body, result == .sent { result = body.withUnsafeBytes { connection.socket.send($0) } }
        return result
    }

    private func awaitRoom(for peer: PeerID) {
        self.roster.block(peer)
        if self.blockedRetry == nil { self.blockedRetry = MonotonicClock.now() + ServerLink.blockedPatience }
    }

    private func metadata(_ more: Logger.Metadata) -> Logger.Metadata {
        more.merging(["mesh.link": "\(self.identity.name)", "mesh.endpoint": "\(self.endpoint)"]) { first, _ in first }
    }
}

extension ServerLink: ReactorLink {
    // A ROUTER always claims to be writable. A signal of the socket shows that a peer has room again; this timer is the
    // fallback.
    private static let blockedPatience = Nanoseconds.milliseconds(5)

    var deadline: Instant? {
        guard let blockedRetry = self.blockedRetry else { return self.roster.deadline }
        return min(self.roster.deadline ?? .never, blockedRetry)
    }

    func needsTurn(at now: Instant) -> Bool {
        guard let connection = self.connection else { return false }
        let core = connection.socket.core
        if core.isReadable || connection.monitor.isReadable { return true }
        if self.blockedRetry != nil, core.wasSignalled { return true }
        return self.deadline.map { now >= $0 } ?? false
    }

    private func handshakeFailed(_ failure: SocketMonitor.HandshakeFailure) {
        self.counters.handshakesFailed += 1
        switch failure {
        case .key: break  // Counted where the key was refused.
        case .mechanism: self.thread.refused(.mechanism, self.metadata([:]))
        // Without keys it is no more than somebody who connected and said nothing.
        case .unfinished: if self.isGuarded { self.thread.refused(.unfinished, self.metadata([:])) }
        }
    }

    func peersChanged(at now: Instant) {
        guard self.isGuarded else { return }
        for id in self.roster.ids {
            guard let peer = self.roster[id], let credential = peer.credential else { continue }
            let roles = self.thread.peers.roles(of: credential.key, named: peer.hello.name).intersection(self.served)
            if roles.isEmpty {
                self.thread.refused(.removed, self.metadata(["mesh.peer": "\(peer.hello.name)"]))
                _ = self.send(.goodbye, to: id)
                self.drop(id, .forbidden)
            } else if roles != credential.roles {
                self.roster.setRoles(of: id, roles)
            }
        }
    }

    func turn(at now: Instant) {
        guard let connection = self.connection else { return }
        self.budget = messagesPerTurn
        while connection.monitor.isReadable, let news = connection.monitor.next() {
            switch news {
            case .handshakeSucceeded: break
            case .handshakeFailed(let failure): self.handshakeFailed(failure)
            case .disconnected(let descriptor): self.roster.disconnected(descriptor: descriptor, at: now)
            }
        }
        if let retry = self.blockedRetry, connection.socket.core.wasSignalled || now >= retry {
            self.blockedRetry = nil
            for peer in self.roster.unblockAll() { self.pending.append(.writable(peer)) }
            self.tellRest()
        }
        // This process itself was frozen: the peers have abandoned us, and the messages in the socket are outdated.
        if self.thread.roundGap >= self.silenceLimit { self.readingEnded(isEmpty: true) }
        for peer in self.roster.beatsDue(at: now) {
            if self.send(self.beat, to: peer) == .sent { self.counters.beats += 1 }
            self.roster.sent(peer, at: now)
        }
        // The verdict waits until everything that arrived before its cause is read. The poll's readiness is older than
        // the event, so check again; if nothing is there, no `receive` would.
        if self.roster.hasVerdicts(at: now) { connection.socket.core.refresh() }
        if !connection.socket.core.isReadable { self.readingEnded(isEmpty: true) }
    }
}
