internal import DequeModule
internal import Timing
internal import Wire

/// Pages of rooms' histories. They come from the database's log, so no room has to be in memory for them. It is asked for
/// one page at a time, so that any number of reads delays a join by no more than one page.
///
///     received ──► waits ──► under way ──► answered
///         └──────────┴─────► refused
struct HistoryReads: Sendable {
    private struct Pending: Equatable, Sendable {
        let read: HistoryRead
        let gateway: GatewayID
        /// When it is refused if its turn has not come.
        let expiresAt: Instant
    }

    private var waiting: Deque<Pending> = []
    private var underWay: Pending?

    var count: Int { self.waiting.count + (self.underWay == nil ? 0 : 1) }

    mutating func received(
        _ read: HistoryRead, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let pending = Pending(read: read, gateway: gateway, expiresAt: now + services.limits.joinDeadline)
        guard self.count < services.limits.historyReads, services.history.isKnown else {
            return Self.answer(pending, .failure(.historyUnavailable), with: &services, into: &actions)
        }
        self.waiting.append(pending)
        self.startNext(at: now, with: &services, into: &actions)
    }

    /// The database answered the read that was under way, or could not.
    mutating func answered(
        _ reply: DatabaseReply, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard let pending = exchange(&self.underWay, with: nil) else { return }
        let outcome = Self.outcome(of: reply, limits: services.limits)
        Self.answer(pending, outcome, with: &services, into: &actions)
        self.startNext(at: now, with: &services, into: &actions)
    }

    /// Asks the database for the next page, unless one is under way. Reads that have waited too long are refused.
    private mutating func startNext(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        while self.underWay == nil, let pending = self.waiting.popFirst() {
            guard now < pending.expiresAt else {
                Self.answer(pending, .failure(.historyUnavailable), with: &services, into: &actions)
                continue
            }
            self.underWay = pending
            let read = pending.read
            services.questions.ask(
                .history(read.room, after: read.after, limit: Int(read.limit)), for: .history, into: &actions)
        }
    }

    private static func outcome(of reply: DatabaseReply, limits: FanoutLimits) -> Result<HistoryPage, Refusal> {
        guard case .history(let history) = reply else { return .failure(.historyUnavailable) }
        return Result { () throws(Refusal) in try history.page(limits: limits) }
    }

    private static func answer(
        _ pending: Pending, _ outcome: Result<HistoryPage, Refusal>, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        if case .failure = outcome { services.counters.refusals += 1 }
        let reply = HistoryReply(request: pending.read.request, outcome: outcome)
        actions.append(.send(.historyReply(reply), to: pending.gateway))
    }
}

extension Refusal {
    fileprivate static var historyUnavailable: Refusal {
        Refusal(.unavailable, "The room's history cannot be read at the moment.", retryAfterMs: 1000)
    }
}
