import GatewayCore
import Mesh
import Wire

/// A gateway around its real core. The real one has an event loop for apps and a thread for the mesh with mailboxes
/// between them; here both are one.
final class GatewayShell: Shell {
    private unowned let world: World
    private let process: Process
    private var core: Gateway
    private var owners: [Stage: ShardOwners] = [
        .coalescer: ShardOwners(), .committer: ShardOwners(), .fanout: ShardOwners(),
    ]
    private var links: [Stage: [String: Link]] = [:]
    private let previewLinks: [String: Link]
    private var outgoing = Outgoing()
    /// Previews on their way to each coalescer, and when the last left.
    private var previews: [String: LatestPreviews] = [:]
    private var previewsAt: [String: UInt64] = [:]
    /// How long previews for one coalescer are collected while many come.
    private static let linkPause: UInt64 = 3 * .millisecond
    private var apps: [Slot: AppConnection] = [:]
    /// Previews of this turn, and of how many envelopes.
    private var seen: [Preview] = []
    private var seenEnvelopes = 0
    /// How long previews wait for their turn, µs: it is the bound that makes it too long.
    private static let lateness: UInt64 = 100
    /// When previews that wait are looked at, ms.
    private var deliveryAt: UInt64?
    /// When the core's timer fires, ms.
    private var tickAt: UInt64?
    /// For a shell that is wrong on purpose: the commits that it has sent.
    private var sent: Set<String> = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        self.core = Gateway(
            name: Identifier(process.name), connectionPrefix: UInt32(truncatingIfNeeded: world.random.next() >> 33) + 1,
            seed: world.random.next(), limits: Self.limits(in: world), tokens: nil)
        for stage in [Stage.coalescer, .committer, .fanout] { self.links[stage] = world.links(of: process, to: stage) }
        self.previewLinks = world.links(of: process, to: .coalescer, .previews)
    }

    /// In every other world nothing is fast enough, so that rooms are slowed down and let go all the time. A turn delivers
    /// to one room, what there is for another one waits for the next.
    private static func limits(in world: World) -> Limits {
        var limits = Limits()
        limits.previewWrites = 1
        if world.plan.seed % 2 == 0 {
            limits.lateMs = 0
            limits.calmMs = 100
        }
        return limits
    }

    func turn(_ inputs: [Input], now: UInt64) -> UInt64? {
        let ms = now / .millisecond
        self.core.turnBegan()
        for input in inputs {
            self.read(input, ms)
            self.perform(ms)
        }
        self.takePreviews(ms)
        self.perform(ms)
        if let due = self.deliveryAt, ms >= due {
            self.deliveryAt = nil
            self.core.turnBegan()
            self.core.deliver(at: ms)
            self.perform(ms)
        }
        if let due = self.tickAt, ms >= due {
            self.tickAt = nil
            self.core.tick(at: ms, seconds: 0)
            self.perform(ms)
        }
        self.outgoing.flush(in: self.world)
        let pause = self.flushPreviews(now)
        if let due = self.core.nextTick(after: ms) { self.tickAt = min(self.tickAt ?? due, due) }
        if let due = self.core.nextDelivery() { self.deliveryAt = min(self.deliveryAt ?? due, due) }
        let breath = now + 50_000
        let delivery = self.deliveryAt.map { max($0 * .millisecond, breath) }
        return [self.tickAt.map { $0 * .millisecond }, delivery, pause].compactMap { $0 }.min()
    }

    // MARK: In

    private func read(_ input: Input, _ ms: UInt64) {
        switch input {
        case .up(let link), .resting(let link): self.changed(link, isUp: true, ms)
        case .down(let link): self.changed(link, isUp: false, ms)
        case .message(let link, let bytes): self.read(bytes, from: link.server.name, ms)
        case .app(let connection, let news): self.read(news, of: connection, ms)
        case .peerUp, .peerDown, .peerMessage, .database: break
        }
    }

    private func changed(_ link: Link, isUp: Bool, _ ms: UInt64) {
        let stage = link.server.stage
        guard link.lane == .main,
            let change = self.owners[stage]?.changed(link.server.name, link.state(isUp: isUp))
        else { return }
        if stage != .fanout {
            let shards = change.orphaned.union(change.relieved)
            if !shards.isEmpty { self.core.commitPathChanged(shards: shards, at: ms) }
            return
        }
        let moves = [(true, change.handedOver.union(change.relieved)), (false, change.orphaned)]
        for (hadOwner, shards) in moves where !shards.isEmpty {
            self.core.fanoutMoved(shards: shards, hadOwner: hadOwner, at: ms)
            self.perform(ms)
        }
    }

    private func read(_ bytes: [UInt8], from peer: String, _ ms: UInt64) {
        let before = self.seen.count
        self.world.read(bytes) { (kind, fields) throws(EnvelopeError) in
            switch kind {
            case .preview: self.take(try EnvelopeReader.decode(Preview.self, fields), from: peer)
            case .update:
                let update = try EnvelopeReader.decode(Update.self, fields)
                self.takePreviews(of: update.room, ms)
                self.core.updated(update)
            case .commitResult: self.core.resulted(try EnvelopeReader.decode(CommitResult.self, fields), at: ms)
            case .joinReply:
                let reply = try EnvelopeReader.decode(JoinReply.self, fields)
                self.takePreviews(of: reply.room, ms)
                self.core.joinReplied(reply, at: ms, seconds: 0)
            case .roomPosition:
                let position = try EnvelopeReader.decode(RoomPosition.self, fields)
                self.takePreviews(of: position.room, ms)
                self.core.positioned(position)
            case .presence: self.core.presenceChanged(try EnvelopeReader.decode(Presence.self, fields))
            case .gestureEnded:
                let ended = try EnvelopeReader.decode(GestureEnded.self, fields)
                self.takePreviews(of: ended.gesture.room, ms)
                self.core.gestureEnded(ended)
            case .sessionClaimed: self.core.sessionClaimed(try EnvelopeReader.decode(SessionClaimed.self, fields))
            case .commit, .join, .leave, .roomInterest, .gestureEnd, .roomRead, .roomState, .commitCredit: break
            }
        }
        if self.seen.count > before { self.seenEnvelopes += 1 }
    }

    /// Only the room's owner knows which updates its previews must not follow.
    private func take(_ preview: Preview, from peer: String) {
        if self.owners[.fanout]?.owner(of: Shard.of(room: preview.room)) == peer { self.seen.append(preview) }
    }

    /// Delivers what came of previews before something else of their room is told.
    private func takePreviews(of room: Identifier, _ ms: UInt64) {
        if self.seen.contains(where: { $0.room == room }) { self.takePreviews(ms) }
    }

    private func takePreviews(_ ms: UInt64) {
        guard !self.seen.isEmpty else { return }
        self.core.previewed(
            self.seenEnvelopes > 1 ? LatestPreviews.folded(self.seen) : self.seen, at: ms, lateness: Self.lateness)
        self.seen.removeAll(keepingCapacity: true)
        self.seenEnvelopes = 0
    }

    private func read(_ news: AppNews, of connection: AppConnection, _ ms: UInt64) {
        switch news {
        case .connected(let user):
            let identity = Identity(member: Member(user: Identifier(user), name: user, color: "#888888"))
            guard let handshake = self.handshake else { return }
            let slot = self.core.connected(identity: identity, handshake: handshake, at: ms)
            connection.slot = slot
            self.apps[slot] = connection
        case .event(let json, let ackID):
            guard let slot = connection.slot, self.apps[slot] === connection else { return }
            self.core.received(json, ackID: ackID, from: slot, at: ms, seconds: 0)
        case .gone:
            guard let slot = connection.slot, self.apps[slot] === connection else { return }
            self.apps[slot] = nil
            self.core.disconnected(slot, at: ms)
        }
    }

    private var handshake: HandshakeFields? {
        do { return try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil }) } catch { return nil }
    }

    // MARK: Out

    private func perform(_ ms: UInt64) {
        let actions = self.core.actions
        self.core.actions = []
        for action in actions { self.perform(action) }
    }

    private func perform(_ action: GatewayAction) {
        switch action {
        case .acknowledge(let slot, let id, let json):
            self.tell(slot, .acknowledged(id), AppText(json))
        case .emit(let slot, let json): self.tell(slot, .event, AppText(json))
        case .broadcast(let slots, let json, _):
            let text = AppText(json)
            for slot in slots { self.tell(slot, .event, text) }
        case .previews(let slots, let previews):
            for preview in previews {
                let text = AppText(preview.json)
                for slot in slots where slot != preview.sender { self.tell(slot, .event, text) }
            }
        case .preview(let shard, let preview):
            if let peer = self.owners[.coalescer]?.owner(of: shard) {
                self.previews[peer, default: LatestPreviews()].insert(preview)
            }
        case .commit(let shard, let path, let commit): self.send(commit, shard, path)
        case .fanout(let shard, let record): self.send(record, to: self.owners[.fanout]?.owner(of: shard))
        case .formerFanout(let shard, let record):
            guard self.world.plan.mutant != .farewellOff else { return }
            self.send(record, to: self.owners[.fanout]?.formerOwner(of: shard))
        case .disconnect, .http: break
        }
    }

    private func send(_ commit: Commit, _ shard: Int, _ path: CommitPath) {
        if self.world.plan.mutant == .custodyOff {
            guard self.sent.insert("\(commit.session) \(commit.number)").inserted else { return }
        }
        for stage in path == .coalescer ? [Stage.coalescer, .committer] : [.committer, .coalescer] {
            guard let peer = self.owners[stage]?.owner(of: shard), let link = self.links[stage]?[peer] else { continue }
            return self.outgoing.append(commit, on: link)
        }
    }

    private func tell(_ slot: Slot, _ kind: AppMessage, _ text: AppText) {
        if let connection = self.apps[slot] { self.world.tell(connection, kind, text) }
    }

    private func send(_ record: GatewayCore.FanoutRecord, to peer: String?) {
        guard let peer, let link = self.links[.fanout]?[peer] else { return }
        switch record {
        case .join(let join): self.outgoing.append(join, on: link)
        case .leave(let leave): self.outgoing.append(leave, on: link)
        case .interest(let interest): self.outgoing.append(interest, on: link)
        case .gestureEnd(let end): self.outgoing.append(end, on: link)
        case .read(let read): self.outgoing.append(read, on: link)
        }
    }

    /// - Returns: when previews that are held back by the pause may leave, ns.
    private func flushPreviews(_ now: UInt64) -> UInt64? {
        var next: UInt64?
        for (peer, link) in self.previewLinks.sorted(by: { $0.key < $1.key }) {
            guard self.previews[peer]?.isEmpty == false, link.session != nil else { continue }
            let due = (self.previewsAt[peer] ?? 0) + Self.linkPause
            guard now >= due else {
                next = min(next ?? due, due)
                continue
            }
            var envelope = EnvelopeWriter()
            self.previews[peer]?.drain(into: &envelope)
            self.previewsAt[peer] = now
            _ = self.world.send(envelope.bytes, on: link)
        }
        return next
    }

    func count(into counts: inout [String: Int64]) {
        counts["gateway.resent", default: 0] += Int64(self.core.counters.resent)
        counts["gateway.holes", default: 0] += Int64(self.core.counters.holes)
        counts["gateway.resyncs", default: 0] += Int64(self.core.counters.resyncs)
        counts["gateway.pace-changes", default: 0] += Int64(self.core.paces.changes)
    }
}
