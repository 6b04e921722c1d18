package import GatewayCore
package import Stages
package import Timing
internal import Trust
package import Wire

/// What came from the stages behind a gateway in this turn: records go to the core as they come, previews and awareness are
/// collected and go there together, ahead of everything else of their rooms.
package struct MeshArrivals {
    private var previews: [Preview] = []
    private var awareness: [Awareness] = []
    /// The rooms that both are of.
    private var rooms: Set<Identifier> = []
    /// The number of envelopes that they came in.
    private var envelopes = 0
    /// How long this turn's previews have waited for it.
    package var lateness = Nanoseconds.zero

    /// Nothing came yet.
    package init() {}

    /// Reads one envelope. Who is in a room, and what they show, is known to its owner alone: what another fan-out still
    /// says of it is late.
    /// - Parameters:
    ///   - fanouts: the owners of rooms.
    ///   - seconds: since 1970, for tokens only.
    ///   - allow: gets the credit for commits that the sender gives.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from sender: StageInstance, _ fanouts: ShardOwners, _ intake: EnvelopeIntake,
        at now: Instant, seconds: Double, to core: inout Gateway, into actions: inout [GatewayAction],
        allow: (CommitCredit) -> Void
    ) {
        let before = self.previews.count + self.awareness.count
        intake.walk(bytes, from: PeerRoles(sender.stage.role)) { kind, fields throws(EnvelopeError) in
            switch kind {
            case .preview:
                self.collect(try EnvelopeReader.decode(Preview.self, fields), from: sender, fanouts)
            case .awareness:
                self.collect(try EnvelopeReader.decode(Awareness.self, fields), from: sender, fanouts)
            case .commitCredit:
                allow(try EnvelopeReader.decode(CommitCredit.self, fields))
            case .joinReply:
                let reply = try EnvelopeReader.decode(JoinReply.self, fields)
                self.deliver(reply.room, at: now, to: &core, into: &actions)
                guard Self.owns(sender, reply.room, fanouts) else {
                    return core.formerFanoutAnswered(reply, into: &actions)
                }
                core.joinAnswered(reply, at: now, seconds: seconds, into: &actions)
            case .answerWeight:
                let weight = try EnvelopeReader.decode(AnswerWeight.self, fields)
                // The owner was asked, too.
                if Self.owns(sender, weight.room, fanouts) { core.weightReceived(weight, at: now, into: &actions) }
            case .presence:
                let presence = try EnvelopeReader.decode(Presence.self, fields)
                if Self.owns(sender, presence.room, fanouts) { core.relay.presenceChanged(presence, into: &actions) }
            case .roomPosition:
                let position = try EnvelopeReader.decode(RoomPosition.self, fields)
                guard Self.owns(sender, position.room, fanouts) else { return }
                self.deliver(position.room, at: now, to: &core, into: &actions)
                core.relay.positionReceived(position, at: now, into: &actions)
            case .signal:
                let signal = try EnvelopeReader.decode(RoomSignal.self, fields)
                if Self.owns(sender, signal.room, fanouts) { core.relay.signalReceived(signal, into: &actions) }
            case .roomMembers:
                let members = try EnvelopeReader.decode(RoomMembers.self, fields)
                if Self.owns(sender, members.room, fanouts) {
                    core.relay.rooms.membersReceived(members, into: &actions)
                }
            default:
                try self.receive(kind, fields, at: now, seconds: seconds, to: &core, into: &actions)
            }
        }
        if self.previews.count + self.awareness.count > before { self.envelopes += 1 }
    }

    private mutating func receive(
        _ kind: RecordKind, _ fields: ByteReader, at now: Instant, seconds: Double, to core: inout Gateway,
        into actions: inout [GatewayAction]
    ) throws(EnvelopeError) {
        switch kind {
        case .update:
            let update = try EnvelopeReader.decode(Update.self, fields)
            self.deliver(update.room, at: now, to: &core, into: &actions)
            core.relay.updateReceived(update, into: &actions)
        case .commitResult:
            let result = try EnvelopeReader.decode(CommitResult.self, fields)
            core.resultReceived(result, at: now, into: &actions)
        case .gestureEnded:
            let ended = try EnvelopeReader.decode(GestureEnded.self, fields)
            self.deliver(ended.gesture.room, at: now, to: &core, into: &actions)
            core.relay.rooms.gestureEnded(ended, into: &actions)
        case .sessionClaimed: core.relay.sessionClaimed(try EnvelopeReader.decode(SessionClaimed.self, fields))
        case .historyReply:
            core.historyAnswered(try EnvelopeReader.decode(HistoryReply.self, fields), at: now, into: &actions)
        case .roomState: core.readAnswered(try EnvelopeReader.decode(RoomState.self, fields), at: now, into: &actions)
        case .preview, .awareness, .signal, .commitCredit, .commit, .join, .leave, .roomInterest, .areaInterest,
            .memberRenamed, .interestReset, .gestureEnd, .roomRead, .historyRead, .rulesNotice,
            .joinReply, .presence,
            .roomPosition, .roomMembers, .answerWeight:
            break
        }
    }

    private static func owns(_ sender: StageInstance, _ room: Identifier, _ fanouts: ShardOwners) -> Bool {
        sender.stage == .fanout && fanouts.owner(of: room) == sender.number
    }

    /// A fan-out that does not own the room any more cannot know which updates its previews must not follow: the owner
    /// may have sent them already.
    private mutating func collect(_ preview: Preview, from sender: StageInstance, _ fanouts: ShardOwners) {
        guard Self.owns(sender, preview.room, fanouts) else { return }
        if self.previews.last?.room != preview.room { self.rooms.insert(preview.room) }
        self.previews.append(preview)
    }

    private mutating func collect(_ awareness: Awareness, from sender: StageInstance, _ fanouts: ShardOwners) {
        guard Self.owns(sender, awareness.room, fanouts) else { return }
        if self.awareness.last?.room != awareness.room { self.rooms.insert(awareness.room) }
        self.awareness.append(awareness)
    }

    /// Delivers a room's previews before something else of the room.
    private mutating func deliver(
        _ room: Identifier, at now: Instant, to core: inout Gateway, into actions: inout [GatewayAction]
    ) {
        if self.rooms.contains(room) { self.deliver(at: now, to: &core, into: &actions) }
    }

    /// Delivers this turn's previews and awareness. Several envelopes of them in one turn mean that the loop is behind: then only the
    /// latest count, so that it delivers less the later it is.
    package mutating func deliver(at now: Instant, to core: inout Gateway, into actions: inout [GatewayAction]) {
        if !self.previews.isEmpty {
            let previews = self.envelopes > 1 ? LatestRecords<Preview>.folded(self.previews) : self.previews
            core.relay.previewsReceived(previews, at: now, lateness: self.lateness, into: &actions)
            self.previews.removeAll(keepingCapacity: true)
        }
        if !self.awareness.isEmpty {
            let awareness = self.envelopes > 1 ? LatestRecords<Awareness>.folded(self.awareness) : self.awareness
            core.relay.awarenessReceived(awareness, at: now, lateness: self.lateness, into: &actions)
            self.awareness.removeAll(keepingCapacity: true)
        }
        self.rooms.removeAll(keepingCapacity: true)
        self.envelopes = 0
    }
}
