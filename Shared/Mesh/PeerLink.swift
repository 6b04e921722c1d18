internal import DequeModule
internal import Logging
internal import Timing
internal import Trust

/// A dialled link: one DEALER to one peer instance, which reconnects by itself for as long as it lives.
///
/// Confined to its reactor's thread. In every turn call `next()` until it is nil. Between `up` and `down` the peer's
/// messages arrive in order, each once. On `down` the socket is closed and its queues are dropped, so nothing old
/// reaches the peer later; the next connection has a new routing id.
package final class PeerLink {
    package enum Event: Equatable {
        /// The peer answered; sends work from now on.
        case up(Hello)
        /// The peer is gone, for this reason. All messages that it sent before were delivered. `refused` may come
        /// without an `up`.
        case down(LinkLoss)
        case message
        /// Sends are accepted again after `wouldBlock`.
        case writable
        /// The peer, which stays up, began (true) or ceased (false) to rest.
        case resting(Bool)
    }

    package let endpoint: Endpoint
    package private(set) var counters = LinkCounters()
    /// The frames of the message that `next` has just returned, valid until the next call.
    package let incoming: Frames
    /// The peer's hello while the link is up.
    package private(set) var peer: Hello?
    /// True while the peer is up but rests.
    package private(set) var isResting = false
    /// Sent to the peer when the link comes up next.
    package var greeting: [UInt8] {
        get { self.identity.greeting }
        set { self.identity.greeting = newValue }
    }

    private let thread: ReactorThread
    /// Who must answer; nil for a link without keys.
    private let expected: ExpectedPeer?
    /// Who is dialled, for logs: the peer's name, or its address.
    private let peerName: String
    /// The key that the present connection accepts, and which of the peer's keys is tried next.
    private var serverKey: PublicKey?
    private var attempts = 0
    private let options: LinkOptions
    private var identity: LinkIdentity
    private let instance = UInt64.random(in: 0 ... .max)
    private var incarnation: UInt32 = 0
    private var machine: DialMachine
    private var connection: LinkConnection?
    private var pending = Deque<Event>()
    private var budget = 0
    private var now: Instant { self.thread.now }
    private var disconnected = false
    private var silent = false

    /// Creates and registers the link; it starts dialling in the reactor's next turn.
    /// - Parameter peer: who must answer; needed on TCP if the reactor has keys.
    /// - Throws: `invalidEndpoint`, `invalidOption`. An unreachable peer is not an error.
    package init(
        on thread: ReactorThread, to endpoint: Endpoint, expecting peer: ExpectedPeer? = nil, identity: LinkIdentity,
        options: LinkOptions = LinkOptions(), liveness: LivenessSettings = LivenessSettings()
    ) throws(MeshError) {
        if let problem = options.problem ?? liveness.problem { throw MeshError(.invalidOption, problem) }
        guard endpoint.isConnectable else { throw MeshError(.invalidEndpoint, "\(endpoint) cannot be connected to") }
        let isGuarded = thread.keys != nil && endpoint.isTCP
        guard !isGuarded || peer != nil else { throw MeshError(.invalidOption, "nobody is named for \(endpoint)") }
        self.expected = isGuarded ? peer : nil
        self.peerName = peer?.name ?? "\(endpoint)"
        self.thread = thread
        self.endpoint = endpoint
        self.identity = identity
        self.options = options
        self.machine = DialMachine(liveness, now: thread.now)
        self.incoming = Frames(capacity: LinkOptions.maximumFrames + 1)
        thread.register(self)
    }

    /// Ends the link: sends a goodbye to the peer and its queue for as long as LINGER allows. No more events.
    package func close() {
        guard !self.machine.isClosed else { return }
        if self.machine.isConnected, !self.disconnected, let connection = self.connection {
            _ = connection.send(.goodbye)
        } else {
            self.connection?.socket.setLinger(.zero)
        }
        self.connection = nil
        self.peer = nil
        self.machine.close()
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
                if self.handle(connection) { return .message }
                if let event = self.pending.popFirst() { return event }
                if self.connection !== connection { return nil }
            case .tooManyFrames:
                self.counters.droppedFrames += 1
                self.heard()
            case .empty, .terminated:
                break
            }
        }
        self.readingEnded(isEmpty: !connection.socket.core.isReadable)
        return self.pending.popFirst()
    }

    // True when the message is for the user.
    private func handle(_ connection: LinkConnection) -> Bool {
        let frames = self.incoming
        let kind = frames.withPart(0) { $0.count == 1 ? FrameKind(rawValue: $0[0]) : nil }
        switch kind {
        case .data where frames.filled > 1:
            self.heard()
            guard self.machine.isUp else {
                self.counters.droppedUnknown += 1
                return false
            }
            frames.skipped = 1
            self.counters.received(frames)
            return true
        case .beat where frames.filled == 1:
            self.heard()
            self.rests(false)
        case .rest where frames.filled == 1:
            self.heard()
            self.rests(true)
        case .goodbye where frames.filled == 1:
            self.lose(.goodbye)
        case .hello where frames.filled == 2:
            self.helloReceived(connection)
        case .refusal where frames.filled == 2:
            self.refused(by: frames.withPart(1) { VersionRefusal($0) })
        default:
            self.counters.droppedMalformed += 1
        }
        return false
    }

    private func rests(_ isResting: Bool) {
        guard self.isResting != isResting else { return }
        self.isResting = isResting
        if self.machine.isUp { self.pending.append(.resting(isResting)) }
    }

    private func helloReceived(_ connection: LinkConnection) {
        do throws(Hello.Failure) {
            let hello = try self.incoming.withPart(1) { bytes throws(Hello.Failure) in
                try Hello(bytes)
            }
            if let expected = self.expected, hello.name != expected.name {
                self.thread.refused(.name, self.metadata(["mesh.peer": "\(hello.name)"]))
                return self.lose(.forbidden)
            }
            guard let version = self.identity.versions.newest(with: hello.versions) else {
                return self.refuse(connection, hello.versions.text)
            }
            guard self.machine.helloReceived(at: self.now) else {
                self.counters.droppedMalformed += 1
                return
            }
            self.peer = hello
            self.thread.cameUp(self.peerName)
            self.counters.ups += 1
            self.pending.append(.up(hello))
            self.thread.logger.info(
                "link up", metadata: self.metadata(["mesh.peer": "\(hello.name)", "mesh.version": "\(version)"]))
        } catch {
            switch error {
            case .malformed:
                self.counters.droppedMalformed += 1
            case .meshVersion(let version): self.refuse(connection, "other links, \(version)")
            }
        }
    }

    private func refused(by refusal: VersionRefusal?) {
        guard let refusal else {
            self.counters.droppedMalformed += 1
            return
        }
        let isOfThisMesh = refusal.mesh == Hello.meshVersion
        self.refused(isOfThisMesh ? refusal.versions.text : "other links, \(refusal.mesh)")
    }

    private func refuse(_ connection: LinkConnection, _ versions: String) {
        _ = connection.send(.goodbye)
        self.refused(versions)
    }

    private func refused(_ versions: String) {
        self.counters.refused += 1
        self.thread.refused(
            self.peerName, speaking: versions, own: self.identity.versions, self.metadata([:]))
        self.lose(.refused)
    }

    private func readingEnded(isEmpty: Bool) {
        if self.silent {
            self.silent = false
            if self.machine.due(at: self.now) == .silent { self.lose(.silent) }
        }
        if self.disconnected, isEmpty { self.lose(.disconnected) }
    }

    private func heard() {
        self.machine.heard(at: self.now)
    }

    // MARK: Sending

    /// Sends a message of one frame.
    package func send(_ frame: [UInt8]) -> SendResult {
        frame.withUnsafeBytes { self.send(copying: $0) }
    }

    /// Sends a message of one frame, copying the bytes during the call.
    package func send(copying frame: UnsafeRawBufferPointer) -> SendResult {
        var result = SendResult.unroutable
        if self.machine.isUp, let connection = self.connection {
            result = connection.send(.data, more: true)
            if result == .sent { result = connection.socket.send(frame) }
        }
        self.counters.sent(result, bytes: frame.count)
        switch result {
        case .sent: self.machine.sent(at: self.now)
        case .wouldBlock: self.connection?.socket.core.wantsWritable = true
        case .unroutable: break
        }
        return result
    }

    // MARK: Lifecycle

    private func open() {
        guard self.chooseKey() else {
            self.thread.refused(.noKey, self.metadata([:]))
            return self.machine.openFailed(at: self.now, random: .random(in: 0 ... .max))
        }
        do throws(MeshError) {
            if self.incarnation > 0 { self.counters.reconnects += 1 }
            let id = "\(self.identity.name)#\(String(self.instance, radix: 16)).\(self.incarnation)"
            self.incarnation &+= 1
            let socket = try Socket(
                .dealer, context: self.thread.context, thread: self.thread, options: self.options,
                security: self.security, routingID: [UInt8](id.utf8))
            // Monitored before it connects, so that no event is missed.
            let monitor = try SocketMonitor(
                socket.core, context: self.thread.context, thread: self.thread, serial: self.thread.nextSerial())
            try socket.connect(self.endpoint)
            self.connection = LinkConnection(socket, monitor)
        } catch {
            self.thread.logger.warning("cannot open a link", metadata: self.metadata(["error": "\(error)"]))
            self.connection = nil
            self.machine.openFailed(at: self.now, random: .random(in: 0 ... .max))
        }
    }

    /// The next of the keys that are listed for the peer: one after the other is tried while its key is replaced.
    /// - Returns: false when there is none.
    private func chooseKey() -> Bool {
        guard let expected = self.expected else { return true }
        let known = self.thread.peers.keys(of: expected.role, named: expected.name)
        self.serverKey = known.isEmpty ? nil : known[self.attempts % known.count]
        return self.serverKey != nil
    }

    private var security: SocketSecurity? {
        guard let keys = self.thread.keys, let serverKey = self.serverKey else { return nil }
        return .client(keys.own, server: serverKey)
    }

    private func handshakeFailed(_ failure: SocketMonitor.HandshakeFailure) {
        self.counters.handshakesFailed += 1
        guard self.machine.handshakeFailed(at: self.now, random: .random(in: 0 ... .max)) else { return }
        self.attempts &+= 1
        self.abandonConnection()
        guard self.serverKey != nil || failure != .unfinished else { return }
        let reason: LinkRefusal =
            switch failure {
            case .key: .rejected
            case .mechanism: .mechanism
            case .unfinished: .unfinished
            }
        self.thread.refused(reason, self.metadata(["mesh.key": "\(self.serverKey?.description ?? "none")"]))
    }

    private func abandonConnection() {
        self.connection?.socket.setLinger(.zero)
        self.connection = nil
    }

    private func lose(_ reason: LinkLoss) {
        let action = self.machine.lost(reason, at: self.now, random: .random(in: 0 ... .max))
        guard action != .ignore else { return }
        self.abandonConnection()
        self.disconnected = false
        self.silent = false
        self.isResting = false
        if self.peer != nil {
            self.peer = nil
            self.counters.downs += 1
            self.thread.logger.info("link down", metadata: self.metadata(["mesh.loss": "\(reason)"]))
        }
        if case .closeAndReport(let reason) = action { self.pending.append(.down(reason)) }
    }

    // A fresh socket has room for it; if it were lost nevertheless, the missing answer would end this connection.
    private func greet(_ connection: LinkConnection) {
        let hello = Hello(self.identity, instance: self.instance, incarnation: self.incarnation &- 1).encoded()
        guard connection.send(.hello, more: true) == .sent else { return }
        _ = hello.withUnsafeBytes { connection.socket.send($0) }
    }

    private func metadata(_ more: Logger.Metadata) -> Logger.Metadata {
        more.merging(["mesh.link": "\(self.identity.name)", "mesh.endpoint": "\(self.endpoint)"]) { first, _ in first }
    }
}

extension PeerLink: ReactorLink {
    var deadline: Instant? { self.machine.deadline }

    func needsTurn(at now: Instant) -> Bool {
        if let connection = self.connection, connection.socket.core.isReady || connection.monitor.isReadable {
            return true
        }
        return self.deadline.map { now >= $0 } ?? false
    }

    func peersChanged(at now: Instant) {
        guard let expected = self.expected, let key = self.serverKey else { return }
        guard !self.thread.peers.keys(of: expected.role, named: expected.name).contains(key) else { return }
        self.serverKey = nil
        if self.machine.redial(at: now) { self.abandonConnection() } else { self.lose(.forbidden) }
    }

    func turn(at now: Instant) {
        self.budget = messagesPerTurn
        if let connection = self.connection {
            self.readNews(connection)
            let core = connection.socket.core
            if core.wantsWritable, core.isWritable {
                core.wantsWritable = false
                if self.machine.isUp { self.pending.append(.writable) }
            }
        }
        switch self.machine.due(at: now) {
        case .nothing: break
        case .open: self.open()
        case .lose(let reason): self.lose(reason)
        case .beat: self.beat()
        case .silent:
            // This process itself was frozen: the peer has abandoned us, and the messages in the socket are outdated.
            if self.thread.roundGap >= self.machine.silenceLimit { self.lose(.silent) } else { self.silent = true }
        }
        // The verdict waits until everything that arrived before its cause is read. The poll's readiness is older than
        // the event, so check again; if nothing is there, no `receive` would.
        if self.silent || self.disconnected, let core = self.connection?.socket.core {
            core.refresh()
            if !core.isReadable { self.readingEnded(isEmpty: true) }
        }
    }

    private func readNews(_ connection: LinkConnection) {
        while connection.monitor.isReadable, let news = connection.monitor.next() {
            switch news {
            case .handshakeSucceeded:
                if !self.disconnected, self.machine.handshakeSucceeded(at: self.now) {
                    self.greet(connection)
                }
            case .handshakeFailed(let failure):
                self.handshakeFailed(failure)
                if self.connection == nil { return }
            case .disconnected:
                // Messages that the peer had sent before are still in the socket and are delivered first.
                self.disconnected = self.machine.isConnected
            }
        }
    }

    private func beat() {
        if let connection = self.connection, connection.send(.beat) == .sent { self.counters.beats += 1 }
        // At the high-water mark the peer has enough pending messages; a beat is not needed.
        self.machine.sent(at: self.now)
    }
}
