package import Canvas
package import CommitterCore
package import Mesh
package import Stages
package import Timing
package import Trust
package import Wire

/// The committer's core between the gateways, the database and the fan-outs.
package struct CommitterStage: StageCore {
    /// What a lane is to do; each carries one request at a time.
    package enum Request {
        case load(lane: Int, LoadRequest)
        case write(lane: Int, ShardBatch)
    }

    /// What became of a lane or of its request.
    package enum News {
        /// Its server may be trusted. If it is on another history than the last one, nothing that is known is certain.
        case up(lane: Int, isNewHistory: Bool)
        case down(lane: Int)
        case loaded(lane: Int, LoadedState)
        /// A stale batch was decided on an outdated state, and is not written.
        case written(lane: Int, isStale: Bool)
        case failed(lane: Int, RequestFailure)
    }

    /// Decides commits.
    package var committer: Committer
    /// What is on its way to gateways.
    package private(set) var results: GatewayResults
    /// What is on its way to fan-outs.
    package private(set) var updates: StageRoutes
    /// How many updates were given to fan-outs.
    package private(set) var publishedCount = 0
    private var notice: RulesNotice
    private var restClock = RestClock()
    private var restsAt: Instant?
    private var isDraining = false
    private var actions = ActionBuffer<Committer.Action>()
    private let trace: (TraceMark) -> Void

    /// No links and no lanes yet.
    /// - Parameters:
    ///   - credit: how many commits each gateway may have unfinished here.
    ///   - trace: logs a step of a traced commit.
    package init(
        lanes: Int, rules: RulesTable, limits: CommitterLimits, credit: CommitCredit, results: OutboxLimits = .results,
        updates: OutboxLimits = .updates, trace: @escaping (TraceMark) -> Void = { _ in }
    ) {
        self.committer = Committer(lanes: lanes, rules: rules, limits: limits)
        self.results = GatewayResults(window: credit, limits: results)
        self.updates = StageRoutes(updates)
        self.notice = RulesNotice(fingerprint: rules.fingerprint)
        self.trace = trace
    }

    package var nextDeadline: Instant? { [self.committer.nextDeadline, self.restsAt].compactMap(\.self).min() }

    /// Pending work is finished, unless there is no database: none of it was acknowledged.
    package var isDrained: Bool {
        (self.committer.isIdle || self.committer.connectedLanes == 0) && self.results.outboxes.isEmpty
            && self.updates.outboxes.isEmpty
    }

    /// Other rules are in force from now on.
    package mutating func rulesChanged(_ rules: RulesTable) {
        self.committer.rulesChanged(rules)
        self.notice = RulesNotice(fingerprint: rules.fingerprint)
        self.updates.outboxes.appendToAll(self.notice)
    }

    // MARK: In

    package mutating func databaseReported(_ news: News, at now: Instant) {
        switch news {
        case .up(let lane, let isNewHistory):
            if isNewHistory { self.committer.historyChanged() }
            self.committer.connectionUp(lane: lane)
        case .down(let lane): self.committer.connectionDown(lane: lane, at: now, into: &self.actions.pending)
        case .loaded(let lane, let state): self.committer.stateLoaded(lane: lane, state, at: now)
        case .written(let lane, let isStale):
            self.committer.batchWritten(lane: lane, isStale: isStale, at: now, into: &self.actions.pending)
        case .failed(let lane, let failure):
            self.committer.requestFailed(lane: lane, failure, at: now, into: &self.actions.pending)
        }
    }

    /// It rests while there is no database, and serves again as soon as there is.
    package mutating func isResting(at now: Instant) -> Bool {
        self.restClock.observe(connections: self.committer.connectedLanes, at: now)
        self.restsAt = self.restClock.deadline(after: now)
        return self.restClock.isResting(at: now)
    }

    package mutating func linkChanged(_ event: StageLinks.Event) {
        self.updates.follow(event)
        // What waited for a link that accepts envelopes again may have been dropped.
        switch event {
        case .up(let fanout, _, _), .writable(let fanout): self.updates.outboxes.append(self.notice, to: fanout)
        case .added, .removed, .down, .resting, .envelope: break
        }
    }

    package mutating func peerUp(_ peer: PeerID, name: String) { self.results.linkUp(peer, name: name) }
    package mutating func peerDown(_ peer: PeerID, at now: Instant) { self.results.linkDown(peer) }
    package mutating func peerWritable(_ peer: PeerID) { self.results.writable(peer) }

    package mutating func received(
        _ kind: RecordKind, _ fields: ByteReader, from peer: PeerID, as roles: PeerRoles, at now: Instant
    ) throws(EnvelopeError) -> Bool {
        // Gateways turn to another committer with what this one does not read.
        guard kind == .commit, !self.isDraining else { return true }
        let commit = try EnvelopeReader.decode(Commit.self, fields)
        guard commit.isOwned(by: roles, named: self.results.name(of: peer)) else { return false }
        if let trace = commit.trace { self.trace(TraceMark(trace, .received, commit)) }
        self.committer.commitReceived(
            commit, size: fields.remaining, source: peer.serial, at: now, into: &self.actions.pending)
        return true
    }

    // MARK: Out

    package mutating func drain(at now: Instant) { self.isDraining = true }

    package mutating func work(at now: Instant, time: Double, ask: (Request) -> Bool) {
        if let due = self.committer.nextDeadline, now >= due {
            self.committer.timeReached(now, into: &self.actions.pending)
        }
        self.committer.dispatch(at: time, into: &self.actions.pending)
        // A request that a lane does not accept is an event, which may cause more actions.
        while let actions = self.actions.take() {
            for action in actions { self.perform(action, at: now, ask) }
            self.actions.giveBack(actions)
        }
        self.results.finish(self.committer.drainFinished())
    }

    private mutating func perform(_ action: Committer.Action, at now: Instant, _ ask: (Request) -> Bool) {
        switch action {
        case .load(let lane, let load): self.submit(.load(lane: lane, load), lane, at: now, ask)
        case .write(let lane, let batch): self.submit(.write(lane: lane, batch), lane, at: now, ask)
        case .result(let gateway, let result): self.results.append(result, to: gateway)
        case .publish(let update):
            self.publishedCount += 1
            self.updates.append(update, ofShard: Int(update.shard))
        case .traced(let mark): self.trace(mark)
        }
    }

    private mutating func submit(_ request: Request, _ lane: Int, at now: Instant, _ ask: (Request) -> Bool) {
        guard !ask(request) else { return }
        self.committer.requestFailed(lane: lane, .transient, at: now, into: &self.actions.pending)
    }

    package mutating func flush(at now: Instant, over transport: some StageTransport) {
        self.results.outboxes.flush(at: now) { transport.send($0, to: $1) }
        self.updates.outboxes.flush(at: now) { transport.send($0, on: $1) }
    }
}
