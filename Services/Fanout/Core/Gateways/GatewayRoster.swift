internal import Timing
internal import Wire

/// The gateways that are up or lately were, and the rooms in which they have connections.
///
///     up ──link down──► down, in grace ──link up──► up, in grace ──grace ends──► up
///                              └──grace ends──► forgotten
///
/// During the grace the members at a gateway stay in their rooms, so that it can name them again.
struct GatewayRoster: Sendable {
    private struct Gateway: Sendable {
        var isUp = true
        var graceEndsAt = Instant.never
        var rooms: Set<Identifier> = []
    }

    private var gateways: [GatewayID: Gateway] = [:]

    /// When the next grace ends, ``Instant/never`` when none runs.
    var nextDeadline: Instant { self.gateways.values.reduce(.never) { min($0, $1.graceEndsAt) } }

    func isUp(_ gateway: GatewayID) -> Bool { self.gateways[gateway]?.isUp == true }

    func rooms(of gateway: GatewayID) -> Set<Identifier> { self.gateways[gateway]?.rooms ?? [] }

    /// A gateway has connections in a room.
    mutating func entered(_ room: Identifier, by gateway: GatewayID) {
        self.gateways[gateway]?.rooms.insert(room)
    }

    /// A gateway's last connection left a room.
    mutating func left(_ room: Identifier, by gateway: GatewayID) {
        self.gateways[gateway]?.rooms.remove(room)
    }

    // MARK: Links

    /// A link came up; a grace that runs starts again.
    mutating func linkUp(to gateway: GatewayID, graceEndsAt: Instant) {
        self.gateways[gateway, default: Gateway()].isUp = true
        if self.gateways[gateway]?.graceEndsAt != .never { self.gateways[gateway]?.graceEndsAt = graceEndsAt }
    }

    /// A link went down. Returns false when it was not up.
    mutating func linkDown(to gateway: GatewayID, graceEndsAt: Instant) -> Bool {
        guard self.isUp(gateway) else { return false }
        self.gateways[gateway]?.isUp = false
        self.gateways[gateway]?.graceEndsAt = graceEndsAt
        return true
    }

    /// Ends the graces that are over. Returns their gateways, in the order of their numbers.
    mutating func endGraces(at now: Instant) -> [GatewayID] {
        if self.nextDeadline > now { return [] }
        let ended = self.gateways.filter { $0.value.graceEndsAt <= now }.keys.sorted()
        for gateway in ended { self.gateways[gateway]?.graceEndsAt = .never }
        return ended
    }

    /// Forgets a gateway without members, unless its link came back.
    mutating func forgetIfDown(_ gateway: GatewayID) {
        if !self.isUp(gateway) { self.gateways[gateway] = nil }
    }
}
