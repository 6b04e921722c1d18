import CommitterCore
import FanoutCore
import FanoutDaemon
import Mesh
import Stages
import Timing
import Trust
import Wire

/// A fan-out around its real core: what the database answered, what peers sent, previews last, one flush each gateway.
final class FanoutShell: Shell {
    private unowned let world: World
    private let process: Process
    private var core: Fanout
    private let connection: DatabaseConnection
    private var peers: FanoutPeers
    private var actions: [FanoutAction] = []
    /// For a shell that is wrong on purpose: rooms that are read, and what it takes the shards' heads to be.
    private var loads: [UInt64: Int] = [:]
    private var seenHeads = [UInt64](repeating: 0, count: Shard.count)
    /// Likewise: previews that updates overtake.
    private var waiting: [(preview: GatewayRecord, gateways: [GatewayID])] = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        var limits = FanoutLimits()
        if world.random.chance(30) {
            limits.replay = 5
            limits.ringBytes = 1500
        }
        self.core = Fanout(limits: limits)
        self.peers = FanoutPeers(outboxBytes: world.plan.fullLinks > 0 ? 1500 : 1 << 20)
        self.connection = DatabaseConnection(of: process, lane: 0)
        world.connect(self.connection)
        world.rest(process, true)
    }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        for case .database(let news) in inputs { self.read(news, now) }
        for input in inputs { self.read(input, now) }
        self.deliverPreviews(now)
        if let due = self.core.nextDeadline, now >= due { self.core.timeReached(now, into: &self.actions) }
        let overtaken = self.waiting
        self.waiting = []
        self.perform(now)
        for (preview, gateways) in overtaken { self.peers.append(preview, to: gateways) }
        self.peers.flush(at: now) { self.world.send($0.bytes, to: $1) }
        let deadline = self.core.nextDeadline
        return self.waiting.isEmpty ? deadline : min(deadline ?? .never, now + .milliseconds(20))
    }

    // MARK: In

    private func read(_ news: DatabaseNews, _ now: Instant) {
        switch news {
        case .up:
            self.world.rest(self.process, false)
            let model = self.world.database.model
            self.core.databaseReached(
                epoch: model.epoch, issuer: self.world.database.issuer, at: now, into: &self.actions)
        case .answer(let tag, let reply):
            self.core.databaseAnswered(self.mistaken(reply, to: tag), to: tag, at: now, into: &self.actions)
        case .down, .loaded, .written, .failed: break
        }
    }

    /// The mutants that read less than there is: the one that never asks for heads knows what it was sent, and what it read
    /// for other reasons.
    private func mistaken(_ reply: DatabaseReply, to tag: UInt64) -> DatabaseReply {
        if self.world.plan.mutant == .gesturesForgotten, case .room(var room) = reply {
            room.closed = []
            return .room(room)
        }
        guard self.world.plan.mutant == .naivePolling else { return reply }
        switch reply {
        case .heads(let heads):
            return .heads(ShardHeads(epoch: heads.epoch, marks: self.seenHeads.map { ShardCursor.Mark($0) }))
        case .room(let room):
            if let shard = self.loads.removeValue(forKey: tag) { self.saw(room.gseq, in: shard) }
        case .log(let rows): for row in rows { self.saw(row.gseq, in: Int(row.shard)) }
        case .history, .claim, .epoch, .failed: break
        }
        return reply
    }

    private func saw(_ gseq: UInt64, in shard: Int) {
        self.seenHeads[shard] = max(self.seenHeads[shard], gseq)
    }

    private func read(_ input: Input, _ now: Instant) {
        switch input {
        case .peerDown(let peer): self.peers.peerDown(peer, at: now, into: &self.core)
        case .peerMessage(let peer, let bytes):
            self.noteUpdates(in: bytes)
            bytes.withUnsafeBytes { bytes in
                self.peers.receive(
                    bytes, from: peer, roles: .all, name: self.world.name(of: peer), self.world.intake, at: now,
                    into: &self.core,
                    &self.actions)
            }
        case .peerWritable(let peer):
            guard let gateway = self.peers.writable(peer) else { return }
            self.world.count("outboxes.overflown")
            self.core.linkDrained(to: gateway, into: &self.actions)
        case .added, .removed, .up, .down, .resting, .message, .writable, .peerUp, .database, .app: break
        }
    }

    /// For the mutant that never asks for heads.
    private func noteUpdates(in bytes: [UInt8]) {
        guard self.world.plan.mutant == .naivePolling else { return }
        self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
            guard kind == .update else { return }
            let update = try EnvelopeReader.decode(Update.self, fields)
            self.saw(update.gseq, in: Int(update.shard))
        }
    }

    private func deliverPreviews(_ now: Instant) {
        var previews: [Preview] = []
        self.peers.drainPreviews { previews = $0 }
        guard !previews.isEmpty else { return }
        guard self.world.plan.mutant == .fenceOff else {
            return self.core.previewsReceived(previews, at: now, into: &self.actions)
        }
        // The mutant without a fence.
        let gateways = self.peers.gateways.outboxes.peers
        for preview in previews { self.peers.append(.preview(preview), to: gateways) }
    }

    // MARK: Out

    private func perform(_ now: Instant) {
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions.removeAll()
            for action in actions {
                switch action {
                case .send(let record, let gateway): self.peers.append(record, to: [gateway])
                case .broadcast(.roomMembers, _, _) where self.world.plan.mutant == .membersForgotten: break
                case .broadcast(.preview(let preview), let to, let except)
                where self.world.plan.mutant == .previewsOvertaken:
                    self.waiting.append((.preview(preview), to.filter { $0 != except }))
                case .broadcast(let record, let to, let except):
                    self.peers.append(self.mistaken(record), to: to.filter { $0 != except })
                case .read(let request):
                    if !self.ask(request) {
                        self.core.databaseAnswered(.failed, to: request.tag, at: now, into: &self.actions)
                    }
                }
            }
        }
    }

    /// The mutant that does not say where a cursor can be seen.
    private func mistaken(_ record: GatewayRecord) -> GatewayRecord {
        guard self.world.plan.mutant == .cursorsEverywhere, case .awareness(var awareness) = record else {
            return record
        }
        awareness.area = .everywhere
        return .awareness(awareness)
    }

    private func ask(_ request: DatabaseRequest) -> Bool {
        if case .room(let room) = request.query { self.loads[request.tag] = Shard.of(room: room) }
        let task = DatabaseTask(isWrite: false, failure: .answer(request.tag, .failed)) { [unowned world] model in
            let reply = model.answer(request.query)
            if case .claim(let room, let sid, _) = request.query, case .claim(.granted) = reply {
                world.database.claimedAt[StreamKey(room, sid)] = world.now
            }
            return .answer(request.tag, reply)
        }
        return self.world.submit(task, on: self.connection)
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
        counts["fanout.previews-fenced", default: 0] += Int64(self.core.counters.previewsDropped.values.reduce(0, +))
    }
}
