package import Canvas
package import FanoutCore
package import Mesh
package import Stages
package import Timing
package import Trust
package import Wire

/// The fan-out's core between the other stages, the database and the gateways. Previews go to the core after everything
/// else of a turn.
package struct FanoutStage: StageCore {
    package typealias Request = DatabaseRequest

    /// What the database told.
    package enum News {
        /// It can be asked from now on; which history it has, and how sessions are signed.
        case reached(epoch: Identifier, issuer: SessionIssuer)
        /// The answer to the question of a tag.
        case answer(UInt64, DatabaseReply)
    }

    /// Knows the rooms.
    package private(set) var fanout: Fanout
    /// The gateways among the peers.
    package private(set) var gateways: GatewayTable
    /// The committers among the peers, and their rules.
    package var committers: CommitterRules
    /// How often what waited for a slow gateway was dropped.
    package private(set) var overflows = 0
    /// By what their hellos said.
    private var names: [PeerID: String] = [:]
    private var hasDatabase = false
    /// Of this turn.
    private var previews: [Preview] = []
    private var actions = ActionBuffer<FanoutAction>()
    private let trace: (TraceMark) -> Void

    /// No peers, rooms or database yet.
    /// - Parameters:
    ///   - outboxBytes: the most bytes that wait for one gateway.
    ///   - trace: logs a step of a traced commit.
    package init(
        limits: FanoutLimits, rules: RulesTable = .defaults, outboxBytes: Int,
        trace: @escaping (TraceMark) -> Void = { _ in }
    ) {
        self.fanout = Fanout(limits: limits, rules: rules)
        self.gateways = GatewayTable(outboxBytes: outboxBytes)
        self.committers = CommitterRules(own: rules.fingerprint)
        self.trace = trace
    }

    package var nextDeadline: Instant? { self.fanout.nextDeadline }

    /// Other rules are in force from now on.
    package mutating func rulesChanged(_ rules: RulesTable) {
        self.fanout.rulesChanged(rules)
        self.committers.rulesChanged(rules.fingerprint)
    }

    // MARK: In

    package mutating func databaseReported(_ news: News, at now: Instant) {
        switch news {
        case .reached(let epoch, let issuer):
            self.hasDatabase = true
            self.fanout.databaseReached(epoch: epoch, issuer: issuer, at: now, into: &self.actions.pending)
        case .answer(let tag, let reply):
            self.fanout.databaseAnswered(reply, to: tag, at: now, into: &self.actions.pending)
        }
    }

    package func isWanted(_ tag: UInt64) -> Bool { self.fanout.isWanted(tag) }

    /// It serves once it has seen the database, and from then on whatever happens: rooms in memory need none.
    package mutating func isResting(at now: Instant) -> Bool { !self.hasDatabase }

    package mutating func peerUp(_ peer: PeerID, name: String) { self.names[peer] = name }

    package mutating func peerDown(_ peer: PeerID, at now: Instant) {
        self.names[peer] = nil
        self.committers.linkDown(to: peer)
        if let gateway = self.gateways.disconnect(peer) { self.fanout.linkDown(to: gateway, at: now) }
    }

    /// A gateway whose records were dropped must hear where its rooms stand.
    package mutating func peerWritable(_ peer: PeerID) {
        guard let gateway = self.gateways.gateway(of: peer), self.gateways.outboxes.writable(gateway) else { return }
        self.overflows += 1
        self.fanout.linkDrained(to: gateway, into: &self.actions.pending)
    }

    package mutating func received(
        _ kind: RecordKind, _ fields: ByteReader, from peer: PeerID, as roles: PeerRoles, at now: Instant
    ) throws(EnvelopeError) -> Bool {
        switch kind {
        case .preview: self.previews.append(try EnvelopeReader.decode(Preview.self, fields))
        case .update:
            let update = try EnvelopeReader.decode(Update.self, fields)
            self.fanout.updateReceived(update, at: now, into: &self.actions.pending)
        case .rulesNotice:
            let notice = try EnvelopeReader.decode(RulesNotice.self, fields)
            self.committers.notified(notice.fingerprint, by: peer, named: self.name(of: peer))
        case .interestReset:
            guard let gateway = self.gateway(of: peer, at: now) else { break }
            self.fanout.linkDown(to: gateway, at: now)
            self.fanout.linkUp(to: gateway, at: now)
        case .join, .leave, .roomInterest, .areaInterest, .memberRenamed, .awareness, .signal, .gestureEnd, .roomRead,
            .historyRead:
            guard let gateway = self.gateway(of: peer, at: now) else { break }
            try Self.receive(kind, fields, from: gateway, at: now, into: &self.fanout, &self.actions.pending)
        case .commit, .commitResult, .joinReply, .roomPosition, .presence, .gestureEnded, .sessionClaimed, .roomState,
            .historyReply, .commitCredit, .roomMembers, .answerWeight:
            break
        }
        return true
    }

    private func name(of peer: PeerID) -> String { self.names[peer] ?? "?" }

    /// The gateway behind a peer that sent what only gateways send; nil when it has a newer connection.
    private mutating func gateway(of peer: PeerID, at now: Instant) -> GatewayID? {
        if let known = self.gateways.gateway(of: peer) { return known }
        guard let (gateway, wasThere) = self.gateways.connect(peer, name: self.name(of: peer)) else { return nil }
        if wasThere { self.fanout.linkDown(to: gateway, at: now) }
        self.fanout.linkUp(to: gateway, at: now)
        return gateway
    }

    /// Reads a record of a kind that only gateways send.
    private static func receive(
        _ kind: RecordKind, _ fields: ByteReader, from gateway: GatewayID, at now: Instant,
        into core: inout Fanout, _ actions: inout [FanoutAction]
    ) throws(EnvelopeError) {
        switch kind {
        case .join:
            core.joinReceived(try EnvelopeReader.decode(Join.self, fields), from: gateway, at: now, into: &actions)
        case .leave:
            core.leaveReceived(try EnvelopeReader.decode(Leave.self, fields), from: gateway, at: now, into: &actions)
        case .roomInterest:
            let interest = try EnvelopeReader.decode(RoomInterest.self, fields)
            core.interestReceived(interest, from: gateway, at: now, into: &actions)
        case .areaInterest:
            core.areaInterestReceived(try EnvelopeReader.decode(AreaInterest.self, fields), from: gateway)
        case .memberRenamed:
            core.memberRenamed(try EnvelopeReader.decode(MemberRenamed.self, fields), into: &actions)
        case .awareness:
            core.awarenessReceived(try EnvelopeReader.decode(Awareness.self, fields), at: now, into: &actions)
        case .signal: core.signalReceived(try EnvelopeReader.decode(RoomSignal.self, fields), into: &actions)
        case .gestureEnd:
            core.gestureEndReceived(try EnvelopeReader.decode(GestureEnd.self, fields), at: now, into: &actions)
        case .roomRead:
            core.readReceived(try EnvelopeReader.decode(RoomRead.self, fields), from: gateway, at: now, into: &actions)
        case .historyRead:
            let read = try EnvelopeReader.decode(HistoryRead.self, fields)
            core.historyReadReceived(read, from: gateway, at: now, into: &actions)
        default: break
        }
    }

    // MARK: Out

    package mutating func work(at now: Instant, time: Double, ask: (DatabaseRequest) -> Bool) {
        if !self.previews.isEmpty {
            self.fanout.previewsReceived(self.previews, at: now, into: &self.actions.pending)
            self.previews.removeAll(keepingCapacity: true)
        }
        if let due = self.fanout.nextDeadline, now >= due { self.fanout.timeReached(now, into: &self.actions.pending) }
        // A question that cannot be asked is answered immediately, which may lead to more.
        while let actions = self.actions.take() {
            for action in actions { self.perform(action, at: now, ask) }
            self.actions.giveBack(actions)
        }
    }

    private mutating func perform(_ action: FanoutAction, at now: Instant, _ ask: (DatabaseRequest) -> Bool) {
        switch action {
        case .send(let record, let gateway): self.gateways.append(record, to: gateway)
        case .broadcast(let record, let to, let except):
            if case .update(let update) = record, let trace = update.trace {
                self.trace(TraceMark(trace, .applied, update, [.gateways: "\(to.count)"]))
            }
            self.gateways.append(record, to: to.lazy.filter { $0 != except })
        case .read(let request):
            guard !ask(request) else { return }
            self.fanout.databaseAnswered(.failed, to: request.tag, at: now, into: &self.actions.pending)
        }
    }

    package mutating func flush(at now: Instant, over transport: some StageTransport) {
        self.gateways.flush(at: now) { transport.send($0, to: $1) }
    }
}

/// The rules of the committers that are linked, compared with those of this fan-out.
///
/// Apps would see previews that no commit can confirm if they differed for long. Fan-outs compare because every committer
/// is linked to every fan-out: if any two daemons differ, some fan-out finds a committer that differs from it.
package struct CommitterRules: Sendable {
    private struct Committer {
        let name: String
        var fingerprint: UInt64
    }

    private var own: UInt64
    private var committers: [PeerID: Committer] = [:]
    private var reported: [String] = []

    /// - Parameter own: the fingerprint of this fan-out's rules.
    package init(own: UInt64) { self.own = own }

    /// This fan-out has other rules.
    package mutating func rulesChanged(_ fingerprint: UInt64) { self.own = fingerprint }

    /// A committer said which rules it has. One of a release before these notices never does, and is not compared.
    package mutating func notified(_ fingerprint: UInt64, by peer: PeerID, named name: String) {
        self.committers[peer] = Committer(name: name, fingerprint: fingerprint)
    }

    /// A peer is gone.
    package mutating func linkDown(to peer: PeerID) { self.committers[peer] = nil }

    /// The names of those that differ, sorted.
    private var differing: [String] {
        self.committers.values.filter { $0.fingerprint != self.own }.map(\.name).sorted()
    }

    /// True when others differ than at the last ``drainNews()``.
    package var hasNews: Bool { self.differing != self.reported }

    /// The names of those that differ now, sorted.
    package mutating func drainNews() -> [String] {
        self.reported = self.differing
        return self.reported
    }
}
