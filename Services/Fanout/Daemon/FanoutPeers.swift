package import FanoutCore
package import Mesh
package import Stages
package import Timing
package import Trust
package import Wire

/// The peers on the fan-out's link: what they send goes to the core as it comes, previews after everything else of the
/// turn; what the core has for gateways leaves from their outboxes.
package struct FanoutPeers {
    /// The gateways among the peers.
    package private(set) var gateways: GatewayTable
    /// The committers among the peers, and their rules.
    package var committers: CommitterRules
    /// Previews of this turn.
    private var previews: [Preview] = []
    private var fields = ByteWriter()
    /// Signals that were dropped because gateways were slow.
    package private(set) var droppedSignals = 0
    /// The storage of those is used again up to this size, bytes.
    private static let keptBytes = 64 << 10

    /// No peer yet.
    /// - Parameters:
    ///   - outboxBytes: the most bytes that wait for one gateway.
    ///   - rulesFingerprint: of the rules in force.
    package init(outboxBytes: Int, rulesFingerprint: UInt64 = 0) {
        self.gateways = GatewayTable(outboxBytes: outboxBytes)
        self.committers = CommitterRules(own: rulesFingerprint)
    }

    // MARK: In

    /// Reads one envelope of a peer.
    /// - Parameters:
    ///   - roles: the peer's, as far as its link proves them.
    ///   - name: the peer's, from its hello.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from peer: PeerID, roles: PeerRoles, name: @autoclosure () -> String?,
        _ intake: EnvelopeIntake, at now: Instant, into core: inout Fanout, _ actions: inout [FanoutAction]
    ) {
        intake.walk(bytes, from: roles) { kind, fields throws(EnvelopeError) in
            switch kind {
            case .preview:
                self.previews.append(try EnvelopeReader.decode(Preview.self, fields))
            case .update:
                let update = try EnvelopeReader.decode(Update.self, fields)
                core.updateReceived(update, at: now, into: &actions)
            case .join, .leave, .roomInterest, .areaInterest, .memberRenamed, .awareness, .signal, .gestureEnd,
                .roomRead,
                .historyRead:
                guard let gateway = self.gateway(peer, name(), at: now, &core) else { return }
                try Self.receive(kind, fields, from: gateway, at: now, into: &core, &actions)
            case .rulesNotice:
                let notice = try EnvelopeReader.decode(RulesNotice.self, fields)
                self.committers.notified(notice.fingerprint, by: peer, named: name() ?? "?")
            case .commit, .commitResult, .joinReply, .roomPosition, .presence, .gestureEnded,
                .sessionClaimed, .roomState, .historyReply, .commitCredit, .gatheringNotice, .roomMembers,
                .answerWeight:
                break
            }
        }
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

    /// Hands out the previews of this turn, if there are any.
    package mutating func drainPreviews(_ body: ([Preview]) -> Void) {
        guard !self.previews.isEmpty else { return }
        body(self.previews)
        self.previews.removeAll(keepingCapacity: true)
    }

    /// The gateway behind a peer that sent what only gateways send; nil when it has a newer connection.
    private mutating func gateway(
        _ peer: PeerID, _ name: @autoclosure () -> String?, at now: Instant, _ core: inout Fanout
    ) -> GatewayID? {
        if let known = self.gateways.gateway(of: peer) { return known }
        guard let (gateway, wasThere) = self.gateways.connect(peer, name: name() ?? "?") else { return nil }
        if wasThere { core.linkDown(to: gateway, at: now) }
        core.linkUp(to: gateway, at: now)
        return gateway
    }

    /// A peer disconnected.
    package mutating func peerDown(_ peer: PeerID, at now: Instant, into core: inout Fanout) {
        self.committers.linkDown(to: peer)
        if let gateway = self.gateways.disconnect(peer) { core.linkDown(to: gateway, at: now) }
    }

    /// A peer's link accepts envelopes again.
    /// - Returns: the gateway that must hear where its rooms stand, as what waited for it was dropped.
    package mutating func writable(_ peer: PeerID) -> GatewayID? {
        guard let gateway = self.gateways.gateway(of: peer), self.gateways.outboxes.writable(gateway) else {
            return nil
        }
        return gateway
    }

    // MARK: Out

    /// Adds a record for a gateway, if it is up.
    package mutating func append(_ record: GatewayRecord, to gateway: GatewayID) {
        let isTaken = self.gateways.outboxes[gateway]?.append(record) { record.encode(into: &$0) }
        if isTaken == false { self.droppedSignals += 1 }
    }

    /// Adds a record for gateways that are up; it is encoded once.
    package mutating func append(_ record: GatewayRecord, to gateways: some Sequence<GatewayID>) {
        self.fields.bytes.removeAll(keepingCapacity: self.fields.bytes.capacity <= Self.keptBytes)
        record.encode(into: &self.fields)
        self.fields.bytes.withUnsafeBufferPointer { fields in
            for gateway in gateways {
                let isTaken = self.gateways.outboxes[gateway]?.append(record) { $0.bytes.append(contentsOf: fields) }
                if isTaken == false { self.droppedSignals += 1 }
            }
        }
    }

    /// Sends what waits for gateways, in order, until their links accept no more.
    package mutating func flush(at now: Instant, _ send: (EnvelopeWriter, PeerID) -> SendResult) {
        self.gateways.flush(at: now, send)
    }
}
