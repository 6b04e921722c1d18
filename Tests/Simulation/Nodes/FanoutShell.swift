import FanoutCore
import Wire

/// A fan-out around its real core: what the database answered, what peers sent, previews last, one flush each gateway.
final class FanoutShell: Shell {
    /// A gateway at the other end of a connection.
    private struct Entry {
        var peer: Peer
        var outbox = GatewayOutbox(maxBytes: 1 << 20)
    }

    private unowned let world: World
    private let process: Process
    private var core: Fanout
    private let connection: DatabaseConnection
    private var numbers: [String: GatewayID] = [:]
    private var byPeer: [Peer: GatewayID] = [:]
    private var entries: [GatewayID: Entry] = [:]
    private var actions: [FanoutAction] = []
    private var previews: [Preview] = []
    /// For a shell that is wrong on purpose: rooms that are read, and what it takes the shards' heads to be.
    private var loads: [UInt64: Int] = [:]
    private var seenHeads = [UInt64](repeating: 0, count: Shard.count)

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        var limits = FanoutLimits()
        if world.random.chance(30) {
            limits.replay = 5
            limits.ringBytes = 1500
        }
        self.core = Fanout(limits: limits)
        self.connection = DatabaseConnection(of: process, lane: 0)
        world.connect(self.connection)
        world.rest(process, true)
    }

    func turn(_ inputs: [Input], now: UInt64) -> UInt64? {
        for case .database(let news) in inputs { self.read(news, now) }
        for input in inputs { self.read(input, now) }
        if !self.previews.isEmpty {
            if self.world.plan.mutant == .fenceOff {
                self.passOn()
            } else {
                self.core.previewsReceived(self.previews, at: now, into: &self.actions)
            }
            self.previews.removeAll(keepingCapacity: true)
        }
        if let due = self.core.nextDeadline, now >= due { self.core.timePassed(at: now, into: &self.actions) }
        self.perform(now)
        self.flush()
        return self.core.nextDeadline
    }

    // MARK: In

    private func read(_ news: DatabaseNews, _ now: UInt64) {
        switch news {
        case .up:
            self.world.rest(self.process, false)
            let model = self.world.database.model
            self.core.identityKnown(
                epoch: model.epoch, issuer: self.world.database.issuer, at: now, into: &self.actions)
        case .answer(let tag, let reply):
            self.core.databaseAnswered(tag, self.mistaken(reply, to: tag), at: now, into: &self.actions)
        case .down, .loaded, .written, .failed: break
        }
    }

    /// The mutant that never asks for heads: it knows what it was sent, and what it read for other reasons.
    private func mistaken(_ reply: DatabaseReply, to tag: UInt64) -> DatabaseReply {
        guard self.world.plan.mutant == .naivePolling else { return reply }
        switch reply {
        case .heads(let heads):
            return .heads(ShardHeads(epoch: heads.epoch, marks: self.seenHeads.map { ShardCursor.Mark($0) }))
        case .room(let room):
            if let shard = self.loads.removeValue(forKey: tag) { self.saw(room.gseq, in: shard) }
        case .log(let rows): for row in rows { self.saw(row.gseq, in: Int(row.shard)) }
        case .claim, .epoch, .failed: break
        }
        return reply
    }

    private func saw(_ gseq: UInt64, in shard: Int) {
        self.seenHeads[shard] = max(self.seenHeads[shard], gseq)
    }

    private func read(_ input: Input, _ now: UInt64) {
        switch input {
        case .peerDown(let peer):
            guard let gateway = self.byPeer.removeValue(forKey: peer) else { return }
            self.entries[gateway] = nil
            self.core.gatewayDown(gateway, at: now)
        case .peerMessage(let peer, let bytes):
            self.world.read(bytes) { (kind, fields) throws(EnvelopeError) in
                try self.read(kind, fields, from: peer, now)
            }
        case .up, .down, .resting, .message, .peerUp, .database, .app: break
        }
    }

    private func read(_ kind: RecordKind, _ fields: ByteReader, from peer: Peer, _ now: UInt64) throws(EnvelopeError) {
        switch kind {
        case .preview:
            self.previews.append(try EnvelopeReader.decode(Preview.self, fields))
        case .update:
            let update = try EnvelopeReader.decode(Update.self, fields)
            self.saw(update.gseq, in: Int(update.shard))
            self.core.updateReceived(update, at: now, into: &self.actions)
        case .join:
            let join = try EnvelopeReader.decode(Join.self, fields)
            self.core.joinReceived(join, from: self.gateway(peer, now), at: now, into: &self.actions)
        case .leave:
            let leave = try EnvelopeReader.decode(Leave.self, fields)
            self.core.leaveReceived(leave, from: self.gateway(peer, now), at: now, into: &self.actions)
        case .roomInterest:
            let interest = try EnvelopeReader.decode(RoomInterest.self, fields)
            self.core.interestReceived(interest, from: self.gateway(peer, now), at: now, into: &self.actions)
        case .gestureEnd:
            let gesture = try EnvelopeReader.decode(GestureEnd.self, fields)
            _ = self.gateway(peer, now)
            self.core.gestureEndReceived(gesture, at: now, into: &self.actions)
        case .commit, .commitResult, .joinReply, .roomPosition, .presence, .gestureEnded, .sessionClaimed,
            .roomRead, .roomState, .commitCredit:
            break
        }
    }

    private func gateway(_ peer: Peer, _ now: UInt64) -> GatewayID {
        if let known = self.byPeer[peer] { return known }
        let gateway = self.numbers[peer.name] ?? GatewayID(UInt32(self.numbers.count + 1))
        self.numbers[peer.name] = gateway
        if let old = self.entries[gateway]?.peer {
            self.byPeer[old] = nil
            self.core.gatewayDown(gateway, at: now)
        }
        self.byPeer[peer] = gateway
        self.entries[gateway] = Entry(peer: peer)
        self.core.gatewayUp(gateway, at: now)
        return gateway
    }

    // MARK: Out

    private func perform(_ now: UInt64) {
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions.removeAll()
            for action in actions {
                switch action {
                case .send(let record, let gateway): self.append(record, to: gateway)
                case .broadcast(let record, let to, let except):
                    for gateway in to where gateway != except { self.append(record, to: gateway) }
                case .read(let request):
                    if !self.ask(request) {
                        self.core.databaseAnswered(request.tag, .failed, at: now, into: &self.actions)
                    }
                }
            }
        }
    }

    private func ask(_ request: DatabaseRequest) -> Bool {
        if case .room(let room) = request.query { self.loads[request.tag] = Shard.of(room: room) }
        let task = DatabaseTask(isWrite: false, failure: .answer(request.tag, .failed)) { model in
            .answer(request.tag, model.answer(request.query))
        }
        return self.world.submit(task, on: self.connection)
    }

    private func append(_ record: FanoutRecord, to gateway: GatewayID) {
        var fields = ByteWriter()
        record.encode(into: &fields)
        fields.bytes.withUnsafeBytes { self.entries[gateway]?.outbox.append(record, fields: $0) }
    }

    /// The mutant without a fence.
    private func passOn() {
        for preview in self.previews {
            for gateway in self.entries.keys.sorted(by: { $0.number < $1.number }) {
                self.append(.preview(preview), to: gateway)
            }
        }
    }

    private func flush() {
        for gateway in self.entries.keys.sorted(by: { $0.number < $1.number }) {
            guard let peer = self.entries[gateway]?.peer else { continue }
            while let envelope = self.entries[gateway]?.outbox.next() {
                _ = self.world.send(envelope, to: peer)
                self.entries[gateway]?.outbox.settle(.sent)
            }
        }
    }

    /// How many connections it has in a room.
    func connectionCount(in room: String) -> Int { self.core.connectionCount(in: Identifier(room)) }

    func count(into counts: inout [String: Int64]) {
        counts["fanout.holes", default: 0] += Int64(self.core.counters.holes)
        counts["fanout.replays", default: 0] += Int64(self.core.counters.replays)
        counts["fanout.rebases", default: 0] += Int64(self.core.counters.rebases)
        counts["fanout.strays", default: 0] += Int64(self.core.counters.strays)
        counts["fanout.replacements", default: 0] += Int64(self.core.counters.replacements)
        counts["fanout.duplicates", default: 0] += Int64(self.core.counters.duplicates)
        counts["fanout.parked", default: 0] += Int64(self.core.counters.previewsParked)
        counts["fanout.previews-fenced", default: 0] += Int64(self.core.counters.previewsDropped.reduce(0, +))
    }
}
