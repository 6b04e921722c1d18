/// Figures that only grow.
package struct GatewayCounters: Equatable, Sendable {
    /// Events from apps.
    package var events: UInt64 = 0
    /// Previews from apps.
    package var previewsIn: UInt64 = 0
    /// Previews handed to coalescers.
    package var previewsSent: UInt64 = 0
    /// Previews folded by a rate limit or a pending commit.
    package var previewsHeld: UInt64 = 0
    /// Previews that a member did not get because they were out of its view.
    package var previewsHidden: UInt64 = 0
    /// Cursors, selections and other awareness from apps.
    package var awareness: UInt64 = 0
    /// Commits accepted into custody.
    package var commits: UInt64 = 0
    /// Commits sent again.
    package var resent: UInt64 = 0
    /// Commits traced, and commits that were not because there were too many traces.
    package var traced: UInt64 = 0, tracesOverRate: UInt64 = 0
    /// Commits acknowledged.
    package var acknowledged: UInt64 = 0
    /// Events refused.
    package var refused: UInt64 = 0
    /// Commits refused because their user sent too many.
    package var overUserCommitRate: UInt64 = 0
    /// Requests over HTTP refused because their user sent too many.
    package var overUserRequestRate: UInt64 = 0
    /// Connections ended because their tokens were not valid any more.
    package var revoked: UInt64 = 0
    /// Commits, joins and reads refused because too many waited.
    package var busy: UInt64 = 0
    /// Connections closed because others waited for the space of answers that they did not read.
    package var unreadClosed: UInt64 = 0
    /// Commits that had to wait for credit.
    package var held: UInt64 = 0
    /// Previews dropped because too many elements were in one connection's hands.
    package var previewsDropped: UInt64 = 0
    /// Updates delivered to rooms.
    package var updates: UInt64 = 0
    /// Holes found in rooms' streams.
    package var holes: UInt64 = 0
    /// Rooms whose members had to join again.
    package var resyncs: UInt64 = 0
    /// Members that had to join again because they read too slowly.
    package var fallenBehind: UInt64 = 0

    /// All zero.
    package init() {}
}

extension GatewayCounters {
    /// What the parts of a gateway have counted.
    init(of gateway: Gateway) {
        self.events = gateway.events
        self.refused = gateway.connections.refusedTotal + gateway.requests.refusedTotal
        self.revoked = gateway.authenticator.revokedTotal
        self.overUserCommitRate = gateway.commits.overUserRateTotal
        self.overUserRequestRate = gateway.requests.overUserRateTotal
        self.previewsIn = gateway.connections.previewsTotal
        self.previewsHeld = gateway.connections.previewsHeldTotal
        self.previewsDropped = gateway.connections.previewsDroppedTotal
        self.awareness = gateway.connections.awarenessTotal
        self.commits = gateway.commits.custody.acceptedTotal
        self.resent = gateway.commits.custody.resentTotal
        self.held = gateway.commits.custody.heldTotal
        self.traced = gateway.commits.traces.tracedTotal
        self.tracesOverRate = gateway.commits.traces.overRateTotal
        self.acknowledged = gateway.commits.acknowledgedTotal
        self.unreadClosed = gateway.joins.answers.closedTotal
        self.busy =
            gateway.commits.custody.busyTotal + gateway.joins.busyTotal + gateway.requests.busyTotal
        gateway.rooms.count(into: &self)
    }
}
