import Canvas
import CommitterCore
import CommitterDaemon
import Mesh
import Stages
import Timing
import Wire

/// A committer around its real core: what the database answered, then commits, then requests, results and updates.
final class CommitterShell: Shell {
    private static let lanes = 2

    private unowned let world: World
    private let process: Process
    private var core: Committer
    private var restClock = RestClock()
    private let connections: [DatabaseConnection]
    private let fanouts: [Link]
    private var owners = ShardOwners()
    /// The history that the core's knowledge is of.
    private var epoch: Identifier?
    private var results: GatewayLane
    private var updates = FanoutLane(outboxLimit: 1 << 20)
    private var actions: [Committer.Action] = []
    /// For a shell that is wrong on purpose: the next number of each stream, as this daemon has seen it.
    private var lastNumbers: [StreamKey: UInt64] = [:]

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        var limits = CommitterLimits()
        limits.batchItems = world.random.chance(50) ? 256 : 3
        limits.cacheBytesPerShard = world.random.chance(50) ? 2 << 20 : 2000
        // In some worlds commits come faster than there is space for.
        if world.plan.seed % 8 == 2 { limits.queueItems = 6 }
        limits.roomElements = world.plan.roomElements
        limits.elementAnnotations = world.plan.elementAnnotations
        self.core = Committer(lanes: Self.lanes, rules: .defaults, limits: limits)
        self.fanouts = world.links(of: process, to: .fanout)
        for link in self.fanouts where link.isListed { self.owners.add(link.index, named: link.server.name) }
        self.results = GatewayLane(window: world.window(), outboxLimit: 1 << 20)
        process.greeting = world.window().greeting
        self.connections = (0..<Self.lanes).map { DatabaseConnection(of: process, lane: $0) }
        for connection in self.connections { world.connect(connection) }
        world.rest(process, true)
    }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        for case .database(let news) in inputs { self.read(news, now) }
        self.restClock.observe(connections: self.core.connectedLanes, at: now)
        self.world.rest(self.process, self.restClock.isResting(at: now))
        for input in inputs { self.read(input, now) }
        if let due = self.core.nextDeadline, now >= due { self.core.timeReached(now, into: &self.actions) }
        self.core.dispatch(at: Double(now.nanoseconds) / 1e6, into: &self.actions)
        self.perform(now)
        self.results.finish(self.core.drainFinished(), self.world.send)
        self.results.flush(self.world.send)
        self.updates.flush { self.world.send($0, on: self.fanouts[$1]) }
        return [self.core.nextDeadline, self.restClock.deadline(after: now)].compactMap(\.self).min()
    }

    // MARK: In

    private func read(_ input: Input, _ now: Instant) {
        switch input {
        case .added(let link): self.owners.add(link.index, named: link.server.name)
        case .removed(let link): self.owners.remove(link.index)
        case .up(let link), .resting(let link): self.owners.changed(link.index, link.state(isUp: true))
        case .down(let link):
            self.owners.changed(link.index, .isGone)
            self.updates.linkDown(link.index)
        case .peerUp(let peer): self.results.peerUp(peer, name: self.world.name(of: peer))
        case .peerDown(let peer): self.results.peerDown(peer)
        case .peerMessage(let peer, let bytes):
            self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
                guard kind == .commit else { return }
                let commit = try EnvelopeReader.decode(Commit.self, fields)
                self.lastNumbers[StreamKey(commit.room, commit.session)] = commit.number
                self.core.commitReceived(
                    self.altered(commit), size: fields.remaining, source: peer.serial, at: now, into: &self.actions)
            }
        case .message, .database, .app: break
        }
    }

    private func read(_ news: DatabaseNews, _ now: Instant) {
        switch news {
        case .up(let lane):
            let epoch = self.world.database.model.epoch
            if self.epoch.map({ $0 != epoch }) ?? false { self.core.historyChanged() }
            self.epoch = epoch
            self.core.connectionUp(lane: lane)
        case .down(let lane): self.core.connectionDown(lane: lane, at: now, into: &self.actions)
        case .loaded(let lane, var state):
            if self.world.plan.mutant == .dedupOff { self.forgetNumbers(in: &state) }
            self.core.stateLoaded(lane: lane, state, at: now)
        case .written(let lane, let isStale):
            if self.world.plan.mutant == .ackBeforeCommit { return }
            self.core.batchWritten(lane: lane, isStale: isStale, at: now, into: &self.actions)
        case .failed(let lane):
            self.core.requestFailed(lane: lane, .transient, at: now, into: &self.actions)
        case .answer: break
        }
    }

    /// The mutant without dedup: whatever number came last is the next one.
    private func forgetNumbers(in state: inout LoadedState) {
        for (key, stream) in state.streams {
            guard let last = self.lastNumbers[key], last <= stream.highest else { continue }
            state.streams[key]?.highest = last - 1
        }
    }

    /// The mutant that decides groups in part.
    private func altered(_ commit: Commit) -> Commit {
        guard self.world.plan.mutant == .groupInPart, let group = try? commit.edit.decode(TransformElements.self),
            commit.edit.tag == TransformElements.traits.tag, group.items.count > 1
        else { return commit }
        var part = commit
        part.edit = EncodedEdit(TransformElements(group.items.dropLast()))
        return part
    }

    // MARK: Out

    private func perform(_ now: Instant) {
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions = []
            for action in actions { self.perform(action, now) }
        }
    }

    private func perform(_ action: Committer.Action, _ now: Instant) {
        switch action {
        case .load(let lane, let request):
            let mutant = self.world.plan.mutant
            self.ask(lane, isWrite: false, now) { .loaded(lane, $0.load(request, mutant: mutant)) }
        case .write(let lane, let batch):
            let mutant = self.world.plan.mutant
            self.ask(lane, isWrite: true, now) { .written(lane, isStale: !$0.write(batch, mutant: mutant)) }
            if mutant == .ackBeforeCommit {
                self.core.batchWritten(lane: lane, isStale: false, at: now, into: &self.actions)
                self.core.dispatch(at: Double(now.nanoseconds) / 1e6, into: &self.actions)
            }
        case .result(let gateway, let result):
            self.results.append(result, to: gateway)
        case .publish(let update):
            self.updates.append(update, to: self.owners.owner(of: Int(update.shard)))
        case .traced: break
        }
    }

    private func ask(
        _ lane: Int, isWrite: Bool, _ now: Instant, _ run: @escaping (inout DatabaseModel) -> DatabaseNews
    ) {
        let request = DatabaseTask(isWrite: isWrite, failure: .failed(lane), run: run)
        if !self.world.submit(request, on: self.connections[lane]) {
            self.core.requestFailed(lane: lane, .transient, at: now, into: &self.actions)
        }
    }

    func count(into counts: inout [String: Int64]) {
        let tally = self.core.counters.tally
        counts["committer.found-written", default: 0] += Int64(tally.foundWritten)
        counts["committer.found-lost", default: 0] += Int64(tally.foundLost)
        counts["committer.duplicates", default: 0] += Int64(tally.duplicates)
        counts["committer.stale", default: 0] += Int64(self.core.counters.stale)
        counts["committer.lost", default: 0] += Int64(self.core.counters.lost)
        counts["committer.over-room-elements", default: 0] += Int64(tally.overRoomElements)
        counts["committer.over-annotations", default: 0] += Int64(tally.overAnnotations)
        counts["committer.gaps", default: 0] += Int64(tally.gaps)
        counts["committer.expired-sessions", default: 0] += Int64(tally.expired)
    }
}
