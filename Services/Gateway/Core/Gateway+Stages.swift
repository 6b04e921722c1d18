package import Timing
package import Wire

/// What the stages behind send, and what happens to the links to them.
extension Gateway {
    // MARK: Fan-outs

    package mutating func joinAnswered(
        _ reply: JoinReply, at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) {
        self.clock = now
        let released = self.joins.answerReceived(
            reply, &self.connections, &self.rooms, at: now, seconds: seconds, into: &actions)
        if let released { self.handle(released, at: now, seconds: seconds, into: &actions) }
    }

    /// A fan-out answered a join that does not serve the room any more.
    package mutating func formerFanoutAnswered(_ reply: JoinReply, into actions: inout [GatewayAction]) {
        self.joins.formerFanoutAnswered(reply, &self.connections, &self.rooms, into: &actions)
    }

    /// A session has a new owner: an older connection here loses it.
    package mutating func sessionClaimed(_ claimed: SessionClaimed) {
        for slot in self.rooms.streams.members(of: claimed.room) {
            self.connections.bySlot[slot]?.sessionClaimed(claimed)
        }
    }

    /// The next update of a room's stream came.
    package mutating func updateReceived(_ update: Update, into actions: inout [GatewayAction]) {
        self.rooms.updateReceived(update, self.connections, into: &actions)
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    package mutating func positionReceived(
        _ answer: RoomPosition, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.rooms.positionReceived(answer, self.connections, at: now, into: &actions)
    }

    /// Previews came; those of one room stand together.
    /// - Parameter lateness: how long they waited for this turn.
    package mutating func previewsReceived(
        _ previews: [Preview], at now: Instant, lateness: Nanoseconds, into actions: inout [GatewayAction]
    ) {
        self.rooms.previewsReceived(previews, lateness: lateness, self.connections, at: now, into: &actions)
    }

    /// What connections show of their persons came; that of one room stands together.
    /// - Parameter lateness: how long it waited for this turn.
    package mutating func awarenessReceived(
        _ awareness: [Awareness], at now: Instant, lateness: Nanoseconds, into actions: inout [GatewayAction]
    ) {
        self.rooms.awarenessReceived(awareness, lateness: lateness, self.connections, at: now, into: &actions)
    }

    package func signalReceived(_ signal: RoomSignal, into actions: inout [GatewayAction]) {
        let members = self.rooms.streams.fullMembers(of: signal.room)
        let sender = self.connections.slot(of: signal.connection)
        let others = members.filter { $0 != sender }
        if !others.isEmpty { actions.append(.signal(others, json: EventText.signal(signal))) }
    }

    /// A gesture ended without a commit.
    package mutating func gestureEnded(_ ended: GestureEnded, into actions: inout [GatewayAction]) {
        self.rooms.gestureEnded(ended, into: &actions)
    }

    /// A user came into a room, is shown otherwise there or left it.
    package mutating func presenceChanged(_ presence: Presence, into actions: inout [GatewayAction]) {
        self.rooms.presenceChanged(presence, except: self.connections.slot(of: presence.except), into: &actions)
    }

    package mutating func membersReceived(_ list: RoomMembers, into actions: inout [GatewayAction]) {
        self.rooms.membersReceived(list, into: &actions)
    }

    package mutating func readAnswered(_ state: RoomState, at now: Instant, into actions: inout [GatewayAction]) {
        self.requests.readAnswered(state, &self.joins.answers, at: now, into: &actions)
    }

    /// The fan-out says what an answer would weigh that was not allowed for.
    package mutating func weightReceived(_ weight: AnswerWeight, at now: Instant, into actions: inout [GatewayAction]) {
        self.clock = now
        if weight.isRead {
            self.requests.weightReceived(weight, &self.joins.answers, at: now, into: &actions)
        } else {
            self.joins.weightReceived(weight, &self.connections, self.rooms, at: now, into: &actions)
        }
    }

    package mutating func historyAnswered(_ reply: HistoryReply, at now: Instant, into actions: inout [GatewayAction]) {
        self.requests.historyAnswered(reply, &self.joins.answers, at: now, into: &actions)
    }

    /// These members have not read enough of their output to get further updates: they lose their place in the room, from
    /// the update `seq` on, and join again when they have read what waits.
    package mutating func fellBehind(
        _ slots: [Slot], in room: Identifier, at seq: UInt64, into actions: inout [GatewayAction]
    ) {
        self.rooms.fellBehind(slots, in: room, at: seq, into: &actions)
    }

    /// An app was sent all of a snapshot that it was answered with ``GatewayAction/snapshot(_:_:)``.
    package mutating func snapshotRead(of room: Identifier, by slot: Slot, into actions: inout [GatewayAction]) {
        self.rooms.snapshotRead(of: room, by: slot, into: &actions)
    }

    /// Another fan-out serves these shards now, or the same one came back without memory.
    /// - Parameter hadOwner: true when the former fan-out is still there and must forget the rooms.
    package mutating func fanoutMoved(
        shards: Set<Int>, hadOwner: Bool, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.rooms.fanoutMoved(shards, hadOwner: hadOwner, self.connections, into: &actions)
        self.joins.fanoutMoved(shards, &self.connections, self.rooms, at: now, into: &actions)
        self.requests.fanoutMoved(shards, into: &actions)
    }

    // MARK: Committers

    package mutating func resultReceived(_ result: CommitResult, at now: Instant, into actions: inout [GatewayAction]) {
        self.clock = now
        self.commits.resultReceived(result, &self.connections, &self.rooms, at: now, into: &actions)
    }

    /// A committer of these shards came or went away: the gateway sends its commits in flight again.
    package mutating func committersChanged(shards: Set<Int>, at now: Instant, into actions: inout [GatewayAction]) {
        self.commits.inFlight.linksChanged(shards: shards, at: now, into: &actions)
    }

    /// The shell had no credit for a commit that it had to send: it waits.
    package mutating func commitNotSent(_ commit: Commit) { self.commits.inFlight.commitNotSent(commit) }

    /// Sends the next commit that waits for credit; see ``InFlightCommits/sendNextHeld(after:at:into:hasCredit:)``.
    package mutating func sendNextHeld(
        after shard: Int?, at now: Instant, into actions: inout [GatewayAction], hasCredit: (Int) -> Bool
    ) -> Int? {
        self.commits.inFlight.sendNextHeld(after: shard, at: now, into: &actions, hasCredit: hasCredit)
    }
}
