internal import Wire

/// The connections in a room, the gateways that they come through, and which of these get the room's stream.
///
/// A user is a member from the first connection to the last.
struct Occupancy: Sendable {
    /// What ends with a connection.
    struct MemberDeparture: Equatable, Sendable {
        /// The user, when it was the last connection.
        var member: Member?
        /// The gateway, when it has no other connection here.
        var gateway: GatewayID?
    }

    /// A gateway with connections in the room.
    private struct Gateway: Sendable {
        let id: GatewayID
        var connections = 1
        /// Members there see a part of the canvas only.
        var hasViewports = false
    }

    private struct Occupant: Sendable {
        var gateway: GatewayID
        var user: Identifier
        /// Its gateway's link went down, and the gateway has not named it since.
        var isStale = false
    }

    private struct User: Sendable {
        var member: Member
        var connections: Int
        var order: UInt64
    }

    private var counts: [Gateway] = [] {
        didSet { self.hasViewports = self.counts.contains(where: \.hasViewports) }
    }
    /// True when a gateway needs to know where previews can be seen.
    private(set) var hasViewports = false
    /// The gateways that get the room's stream, in the order in which they began.
    private(set) var streaming: [GatewayID] = []
    private var occupants: [UInt64: Occupant] = [:]
    private var users: [Identifier: User] = [:]
    private var order: UInt64 = 0

    var isEmpty: Bool { self.counts.isEmpty }
    /// All gateways with connections here, in the order in which they came.
    var gateways: [GatewayID] { self.counts.map(\.id) }
    var connectionCount: Int { self.occupants.count }

    /// Every user once, in the order in which they came.
    var members: [Member] {
        self.users.values.sorted { $0.order < $1.order }.map(\.member)
    }

    func isStreaming(_ gateway: GatewayID) -> Bool {
        self.streaming.contains(gateway)
    }

    func includes(_ connection: UInt64) -> Bool {
        self.occupants[connection] != nil
    }

    /// The gateway that needs no preview of this connection, because it has no other connection in the room.
    func loneGateway(of connection: UInt64) -> GatewayID? {
        guard self.counts.contains(where: { $0.connections == 1 }), let occupant = self.occupants[connection],
            self.counts.contains(where: { $0.id == occupant.gateway && $0.connections == 1 })
        else { return nil }
        return occupant.gateway
    }

    func user(of connection: UInt64) -> Identifier? {
        self.occupants[connection]?.user
    }

    /// Starts or stops a gateway's stream; a gateway without connections here has none.
    mutating func stream(_ isOn: Bool, to gateway: GatewayID) {
        if !isOn {
            self.streaming.removeAll { $0 == gateway }
        } else if !self.isStreaming(gateway), self.counts.contains(where: { $0.id == gateway }) {
            self.streaming.append(gateway)
        }
    }

    /// Whether members at a gateway see a part of the canvas only.
    mutating func setViewports(_ hasViewports: Bool, at gateway: GatewayID) {
        guard let index = self.counts.firstIndex(where: { $0.id == gateway }) else { return }
        self.counts[index].hasViewports = hasViewports
    }

    /// A connection enters, or is named again. Returns the member when it is the user's first connection.
    mutating func enter(_ connection: UInt64, at gateway: GatewayID, as member: Member) -> Member? {
        if let known = self.occupants[connection] {
            if known.gateway == gateway, known.user == member.user {
                self.occupants[connection]?.isStale = false
                self.users[member.user]?.member = member
                return nil
            }
            _ = self.leave(connection)
        }
        self.occupants[connection] = Occupant(gateway: gateway, user: member.user)
        if let index = self.counts.firstIndex(where: { $0.id == gateway }) {
            self.counts[index].connections += 1
        } else {
            self.counts.append(Gateway(id: gateway))
        }
        if self.users[member.user] != nil {
            self.users[member.user]?.connections += 1
            self.users[member.user]?.member = member
            return nil
        }
        self.order += 1
        self.users[member.user] = User(member: member, connections: 1, order: self.order)
        return member
    }

    mutating func leave(_ connection: UInt64) -> MemberDeparture {
        var departure = MemberDeparture()
        guard let occupant = self.occupants.removeValue(forKey: connection) else { return departure }
        if let index = self.counts.firstIndex(where: { $0.id == occupant.gateway }) {
            self.counts[index].connections -= 1
            if self.counts[index].connections <= 0 {
                self.counts.remove(at: index)
                self.stream(false, to: occupant.gateway)
                departure.gateway = occupant.gateway
            }
        }
        guard let user = self.users[occupant.user] else { return departure }
        if user.connections > 1 {
            self.users[occupant.user]?.connections -= 1
        } else {
            self.users.removeValue(forKey: occupant.user)
            departure.member = user.member
        }
        return departure
    }

    /// A gateway's link went down: its connections are in doubt and its stream stops.
    mutating func doubt(_ gateway: GatewayID) {
        self.stream(false, to: gateway)
        for (connection, occupant) in self.occupants where occupant.gateway == gateway {
            self.occupants[connection]?.isStale = true
        }
    }

    /// The connections of a gateway, or only those that it has not named again, in order of their numbers.
    func connections(of gateway: GatewayID, onlyStale: Bool) -> [UInt64] {
        self.occupants.filter { $0.value.gateway == gateway && ($0.value.isStale || !onlyStale) }.keys.sorted()
    }
}
