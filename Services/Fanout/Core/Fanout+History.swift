package import Timing
package import Wire

/// Pages of rooms' histories. They come from the database's log, so no room has to be in memory for them.
extension Fanout {
    /// A gateway asks for a page of a room's history.
    package mutating func historyReadReceived(
        _ read: HistoryRead, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.services.gateways.isUp(gateway) else { return }
        let pending = HistoryReads.Pending(
            read: read, gateway: gateway, expiresAt: now + self.limits.joinDeadline)
        guard self.historyReads.count < self.limits.historyReads, self.services.history.isKnown else {
            return self.answer(pending, .failure(.historyUnavailable), into: &actions)
        }
        self.historyReads.enqueue(pending)
        self.askForHistory(at: now, into: &actions)
    }

    /// The database answered the read that was under way, or could not.
    mutating func historyAnswered(_ reply: DatabaseReply, at now: Instant, into actions: inout [FanoutAction]) {
        guard let pending = self.historyReads.finish() else { return }
        self.answer(pending, self.outcome(of: reply), into: &actions)
        self.askForHistory(at: now, into: &actions)
    }

    /// Asks the database for the next page, unless one is under way. Reads that have waited too long are refused.
    private mutating func askForHistory(at now: Instant, into actions: inout [FanoutAction]) {
        while let pending = self.historyReads.startNext() {
            if now < pending.expiresAt {
                let read = pending.read
                self.services.questions.ask(
                    .history(read.room, after: read.after, limit: Int(read.limit)), for: .history, into: &actions)
                return
            }
            _ = self.historyReads.finish()
            self.answer(pending, .failure(.historyUnavailable), into: &actions)
        }
    }

    private func outcome(of reply: DatabaseReply) -> Result<HistoryPage, Refusal> {
        guard case .history(let history) = reply else { return .failure(.historyUnavailable) }
        return Result { () throws(Refusal) in try history.page(limits: self.limits) }
    }

    private mutating func answer(
        _ pending: HistoryReads.Pending, _ outcome: Result<HistoryPage, Refusal>, into actions: inout [FanoutAction]
    ) {
        if case .failure = outcome { self.services.counters.refusals += 1 }
        let reply = HistoryReply(request: pending.read.request, outcome: outcome)
        actions.append(.send(.historyReply(reply), to: pending.gateway))
    }
}

extension Refusal {
    fileprivate static var historyUnavailable: Refusal {
        Refusal(.unavailable, "The room's history cannot be read at the moment.", retryAfterMs: 1000)
    }
}
