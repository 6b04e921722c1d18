import Canvas
import CommitterCore
import Mesh
import Wire

/// A committer around its real core: what the database answered, then commits, then requests, results and updates.
final class CommitterShell: Shell {
    private static let lanes = 2

    private unowned let world: World
    private let process: Process
    private var core: Committer
    private var restClock = RestClock()
    private let connections: [DatabaseConnection]
    private let fanouts: [String: Link]
    private var owners = ShardOwners()
    /// The history that the core's knowledge is of.
    private var epoch: Identifier?
    private var outgoing = Outgoing()
    /// The newest connection of each name, and what leaves for it.
    private var peers: [String: Peer] = [:]
    private var results: [String: EnvelopeWriter] = [:]
    private var actions: [Committer.Action] = []
    /// For a shell that is wrong on purpose: the next number of each stream, as this daemon has seen it.
    private var lastNumbers: [StreamKey: UInt64] = [:]

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        var limits = CommitterLimits()
        limits.batchItems = world.random.chance(50) ? 256 : 3
        limits.cacheBytesPerShard = world.random.chance(50) ? 2 << 20 : 2000
        self.core = Committer(lanes: Self.lanes, rules: .defaults, limits: limits)
        self.fanouts = world.links(of: process, to: .fanout)
        self.connections = (0..<Self.lanes).map { DatabaseConnection(of: process, lane: $0) }
        for connection in self.connections { world.connect(connection) }
        world.rest(process, true)
    }

    func turn(_ inputs: [Input], now: UInt64) -> UInt64? {
        for case .database(let news) in inputs { self.read(news, now) }
        self.restClock.observe(connections: self.core.connectedLanes, at: now)
        self.world.rest(self.process, self.restClock.isResting(at: now))
        for input in inputs { self.read(input, now) }
        if let due = self.core.nextDeadline, now >= due { self.core.tick(at: now, into: &self.actions) }
        self.core.dispatch(into: &self.actions)
        self.perform(now)
        self.outgoing.flush(in: self.world)
        for (name, envelope) in self.results.sorted(by: { $0.key < $1.key }) {
            if let peer = self.peers[name] { _ = self.world.send(envelope.bytes, to: peer) }
        }
        self.results = [:]
        return [self.core.nextDeadline, self.restClock.deadline(after: now)].compactMap(\.self).min()
    }

    // MARK: In

    private func read(_ input: Input, _ now: UInt64) {
        switch input {
        case .up(let link), .resting(let link):
            self.owners.changed(link.server.name, link.state(isUp: true))
        case .down(let link): self.owners.changed(link.server.name, .isGone)
        case .peerUp(let peer): self.peers[peer.name] = peer
        case .peerDown(let peer): if self.peers[peer.name] == peer { self.peers[peer.name] = nil }
        case .peerMessage(_, let bytes):
            self.world.read(bytes) { (kind, fields) throws(EnvelopeError) in
                guard kind == .commit else { return }
                let commit = try EnvelopeReader.decode(Commit.self, fields)
                self.lastNumbers[StreamKey(commit.room, commit.session)] = commit.number
                self.core.submit(commit, size: fields.remaining, at: now, into: &self.actions)
            }
        case .message, .database, .app: break
        }
    }

    private func read(_ news: DatabaseNews, _ now: UInt64) {
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

    // MARK: Out

    private func perform(_ now: UInt64) {
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions = []
            for action in actions { self.perform(action, now) }
        }
    }

    private func perform(_ action: Committer.Action, _ now: UInt64) {
        switch action {
        case .load(let lane, let request):
            self.ask(lane, isWrite: false, now) { .loaded(lane, $0.load(request)) }
        case .write(let lane, let batch):
            let mutant = self.world.plan.mutant
            self.ask(lane, isWrite: true, now) { .written(lane, isStale: !$0.write(batch, mutant: mutant)) }
            if mutant == .ackBeforeCommit {
                self.core.batchWritten(lane: lane, isStale: false, at: now, into: &self.actions)
                self.core.dispatch(into: &self.actions)
            }
        case .result(let gateway, let result):
            self.results[gateway.text, default: EnvelopeWriter()].append(result)
        case .publish(let update):
            guard let owner = self.owners.owner(of: Int(update.shard)), let link = self.fanouts[owner] else { return }
            self.outgoing.append(update, on: link)
        }
    }

    private func ask(
        _ lane: Int, isWrite: Bool, _ now: UInt64, _ run: @escaping (inout DatabaseModel) -> DatabaseNews
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
        counts["committer.gaps", default: 0] += Int64(tally.gaps)
        counts["committer.expired-sessions", default: 0] += Int64(tally.expired)
    }
}
