package import Timing
package import Wire

/// What the stages behind send, and what happens to the links to them.
extension Gateway {
    // MARK: Fan-outs

    package mutating func joinAnswered(
        _ reply: JoinReply, at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) {
        self.clock = now
        let released = self.joins.answerReceived(reply, &self.relay, at: now, seconds: seconds, into: &actions)
        if let released { self.handle(released, at: now, seconds: seconds, into: &actions) }
    }

    /// A fan-out answered a join that does not serve the room any more.
    package mutating func formerFanoutAnswered(_ reply: JoinReply, into actions: inout [GatewayAction]) {
        self.joins.formerFanoutAnswered(reply, &self.relay, into: &actions)
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
            self.joins.weightReceived(weight, &self.relay, at: now, into: &actions)
        }
    }

    package mutating func historyAnswered(_ reply: HistoryReply, at now: Instant, into actions: inout [GatewayAction]) {
        self.requests.historyAnswered(reply, &self.joins.answers, at: now, into: &actions)
    }

    /// Another fan-out serves these shards now, or the same one came back without memory.
    /// - Parameter hadOwner: true when the former fan-out is still there and must forget the rooms.
    package mutating func fanoutMoved(
        shards: Set<Int>, hadOwner: Bool, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.relay.rooms.fanoutMoved(shards, hadOwner: hadOwner, self.relay.connections, into: &actions)
        self.joins.fanoutMoved(shards, &self.relay, at: now, into: &actions)
        self.requests.fanoutMoved(shards, into: &actions)
    }

    // MARK: Committers

    package mutating func resultReceived(_ result: CommitResult, at now: Instant, into actions: inout [GatewayAction]) {
        self.clock = now
        self.commits.resultReceived(result, &self.relay.connections, &self.relay.rooms, at: now, into: &actions)
    }
}
