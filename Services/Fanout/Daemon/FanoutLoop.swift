internal import Boot
internal import FanoutCore
internal import Logging
internal import Mesh
internal import Postgres
internal import Wire

/// What the fan-out does in every turn of its thread: what the database answered, what its peers sent, what is due, and
/// then everything that the core decided.
final class FanoutLoop: ReactorLoop {
    /// One gateway, coalescer or committer by its mesh name.
    private struct Peer {
        let gateway: GatewayID
        var link: PeerID?
        var outbox: GatewayOutbox
    }

    private let link: ServerLink
    private let lines: [DatabaseLine]
    private let check: ReadinessCheck
    private let logger: Logger
    private let gatewayBytes: Int
    private let telemetry: FanoutTelemetry
    private var core: Fanout
    private var actions: [FanoutAction] = []
    private var peers: [Peer] = []
    private var names: [String: Int] = [:]
    private var links: [PeerID: Int] = [:]
    private var touched: Set<Int> = []
    private var previews: [Preview] = []
    private var fields = ByteWriter()
    private var databaseLog = LogLimiter(every: .seconds(1))
    private var isStopping = false

    init(
        on thread: ReactorThread, name: String, settings: FanoutSettings, telemetry: FanoutTelemetry,
        check: ReadinessCheck
    ) throws {
        self.logger = thread.logger
        self.check = check
        self.telemetry = telemetry
        self.gatewayBytes = settings.gatewayBytes
        self.link = try ServerLink(
            on: thread, bind: Endpoint(settings.bind),
            identity: LinkIdentity(name: name, protocolVersion: UInt16(EnvelopeWriter.version)))
        var database = ConnectionSettings(connectionString: settings.databaseURL)
        database.applicationName = name
        self.lines = try (0..<settings.databaseConnections).map { _ in
            try DatabaseLine(on: thread, settings: database, now: thread.now)
        }
        self.core = Fanout(limits: settings.limits, rules: settings.rules)
        check.notReady("the database does not answer")
    }

    func turn(now: UInt64) -> UInt64? {
        for line in self.lines { line.turn(now: now) { self.read($0, now) } }
        self.readPeers(now)
        if let due = self.core.nextDeadline, due <= now { self.core.timePassed(at: now, into: &self.actions) }
        self.perform(now)
        self.flush()
        self.telemetry.update(self.core)
        var deadline = self.core.nextDeadline
        for line in self.lines {
            line.poll()
            if let due = line.nextDeadline { deadline = min(deadline ?? due, due) }
        }
        return deadline
    }

    func stopRequested(now: UInt64) {
        self.isStopping = true
    }

    var isDrained: Bool { self.peers.allSatisfy { $0.outbox.isEmpty || $0.link == nil } }

    func stopped() {
        for line in self.lines { line.close() }
    }

    // MARK: Database

    private func read(_ news: DatabaseLine.News, _ now: UInt64) {
        switch news {
        case .up(let facts):
            if facts.isReadOnly { self.logger.warning("the database takes no writes") }
        case .identity(let epoch, let key):
            self.check.ready()
            self.core.identityKnown(
                epoch: epoch, issuer: SessionSecrets.issuer(key: key), at: now, into: &self.actions)
        case .answer(let tag, let reply):
            self.core.databaseAnswered(tag, reply, at: now, into: &self.actions)
        case .down(let error):
            if !self.lines.contains(where: \.isUp) { self.check.notReady("the database does not answer") }
            if let suppressed = self.databaseLog.admit(at: .now) {
                self.logger.warning(
                    "no database connection", metadata: ["pg.error": "\(error)", "log.suppressed": "\(suppressed)"])
            }
        }
    }

    private func ask(_ request: DatabaseRequest, _ now: UInt64) {
        let line = self.lines.filter(\.isUp).min { $0.load < $1.load }
        if line?.ask(request, now: now) == true { return }
        self.core.databaseAnswered(request.tag, .failed, at: now, into: &self.actions)
    }

    // MARK: Peers

    private func readPeers(_ now: UInt64) {
        while let event = self.link.next() {
            switch event {
            case .peerUp(let id, let hello): self.up(id, hello.name, now)
            case .peerDown(let id, _): self.down(id, now)
            case .writable(let id): self.writable(id)
            case .message(let id): self.received(from: id, now)
            }
        }
    }

    private func up(_ id: PeerID, _ name: String, _ now: UInt64) {
        let index: Int
        if let known = self.names[name] {
            index = known
            if let former = self.peers[known].link { self.down(former, now) }
        } else {
            index = self.peers.count
            self.names[name] = index
            self.peers.append(
                Peer(
                    gateway: GatewayID(UInt32(clamping: index)), link: nil,
                    outbox: GatewayOutbox(maxBytes: self.gatewayBytes)))
        }
        self.links[id] = index
        self.peers[index].link = id
        self.peers[index].outbox = GatewayOutbox(maxBytes: self.gatewayBytes)
        self.core.gatewayUp(self.peers[index].gateway, at: now)
    }

    private func down(_ id: PeerID, _ now: UInt64) {
        guard let index = self.links.removeValue(forKey: id), self.peers[index].link == id else { return }
        self.peers[index].link = nil
        self.core.gatewayDown(self.peers[index].gateway, at: now)
    }

    private func writable(_ id: PeerID) {
        guard let index = self.links[id], self.peers[index].outbox.isBlocked else { return }
        if self.peers[index].outbox.unblock() {
            self.core.gatewayResumed(self.peers[index].gateway, into: &self.actions)
        }
        self.touched.insert(index)
    }

    private func received(from id: PeerID, _ now: UInt64) {
        guard let index = self.links[id] else { return }
        do throws(EnvelopeError) {
            try self.link.incoming.withBytes(at: 0) { bytes throws(EnvelopeError) in
                try self.decode(bytes, from: self.peers[index].gateway, now)
            }
        } catch {
            self.telemetry.envelopeMalformed()
            self.logger.warning("envelope refused", metadata: ["wire.error": "\(error)"])
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, from gateway: GatewayID, _ now: UInt64
    ) throws(EnvelopeError) {
        var envelope = try EnvelopeReader(bytes)
        self.previews.removeAll(keepingCapacity: true)
        while let (kind, fields) = try envelope.next() {
            switch kind {
            case .preview:
                self.previews.append(try EnvelopeReader.decode(Preview.self, fields))
            case .update:
                let update = try EnvelopeReader.decode(Update.self, fields)
                self.core.updateReceived(update, at: now, into: &self.actions)
            case .join:
                let join = try EnvelopeReader.decode(Join.self, fields)
                self.core.joinReceived(join, from: gateway, at: now, into: &self.actions)
            case .leave:
                let leave = try EnvelopeReader.decode(Leave.self, fields)
                self.core.leaveReceived(leave, from: gateway, at: now, into: &self.actions)
            case .roomInterest:
                let interest = try EnvelopeReader.decode(RoomInterest.self, fields)
                self.core.interestReceived(interest, from: gateway, at: now, into: &self.actions)
            case .gestureEnd:
                let end = try EnvelopeReader.decode(GestureEnd.self, fields)
                self.core.gestureEndReceived(end, at: now, into: &self.actions)
            case .roomRead:
                let read = try EnvelopeReader.decode(RoomRead.self, fields)
                self.core.roomReadReceived(read, from: gateway, at: now, into: &self.actions)
            case .commit, .commitResult, .joinReply, .roomPosition, .presence, .gestureEnded, .sessionClaimed,
                .roomState:
                break
            }
        }
        if !self.previews.isEmpty { self.core.previewsReceived(self.previews, at: now, into: &self.actions) }
    }

    // MARK: Out

    /// Performs what the core decided; a question that cannot be put is answered at once, which may decide more.
    private func perform(_ now: UInt64) {
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions = []
            for action in actions {
                switch action {
                case .send(let record, let gateway): self.send(record, to: [gateway], except: nil)
                case .broadcast(let record, let gateways, let except): self.send(record, to: gateways, except: except)
                case .read(let request): self.ask(request, now)
                }
            }
        }
    }

    private func send(_ record: FanoutRecord, to gateways: [GatewayID], except: GatewayID?) {
        self.fields.bytes.removeAll(keepingCapacity: true)
        record.encode(into: &self.fields)
        self.fields.bytes.withUnsafeBytes { fields in
            for gateway in gateways where gateway != except {
                let index = Int(gateway.number)
                guard self.peers[index].link != nil else { continue }
                self.peers[index].outbox.append(record, fields: fields)
                self.touched.insert(index)
            }
        }
    }

    private func flush() {
        for index in self.touched {
            guard let link = self.peers[index].link else { continue }
            while let envelope = self.peers[index].outbox.next() {
                switch self.link.send(envelope, to: link) {
                case .sent, .unroutable: self.peers[index].outbox.settle(.sent)
                case .wouldBlock: self.peers[index].outbox.settle(.blocked)
                }
            }
        }
        self.touched.removeAll(keepingCapacity: true)
    }
}
