internal import Wire

/// Who is in a room, through which gateways, and which of these get the room's stream.
struct Occupancy: Sendable {
    /// A gateway with connections in the room.
    struct Gateway: Sendable {
        let id: GatewayID
        /// How many connections it has here.
        var connections = 0
        /// True once it has a place in the stream from which it follows.
        var isStreaming = false
    }

    private struct Occupant: Sendable {
        var gateway: GatewayID
        var user: Identifier
        /// Of a gateway that went away and has not named it again.
        var isStale = false
    }

    private struct User: Sendable {
        var member: Member
        var connections: Int
        var order: UInt64
    }

    private(set) var gateways: [Gateway] = []
    /// The gateways that get the room's stream.
    private(set) var streaming: [GatewayID] = []
    private var occupants: [UInt64: Occupant] = [:]
    private var users: [Identifier: User] = [:]
    private var order: UInt64 = 0

    var isEmpty: Bool { self.gateways.isEmpty }
    var connectionCount: Int { self.occupants.count }

    /// Every user once, in the order in which they came.
    var members: [Member] {
        self.users.values.sorted { $0.order < $1.order }.map(\.member)
    }

    func isStreaming(_ gateway: GatewayID) -> Bool {
        self.streaming.contains(gateway)
    }

    func holds(_ connection: UInt64) -> Bool {
        self.occupants[connection] != nil
    }

    /// True when the gateway has connections in the room.
    func includes(_ gateway: GatewayID) -> Bool {
        self.gateways.contains { $0.id == gateway }
    }

    /// The gateway that needs no preview of this connection, because it has nobody else in the room.
    func loneGateway(of connection: UInt64) -> GatewayID? {
        guard self.gateways.contains(where: { $0.connections == 1 }), let occupant = self.occupants[connection],
            self.gateways.contains(where: { $0.id == occupant.gateway && $0.connections == 1 })
        else { return nil }
        return occupant.gateway
    }

    /// Whose a connection is.
    func user(of connection: UInt64) -> Identifier? {
        self.occupants[connection]?.user
    }

    /// Starts or stops a gateway's stream; a gateway without connections here has none.
    mutating func stream(_ isOn: Bool, to gateway: GatewayID) {
        guard let index = self.gateways.firstIndex(where: { $0.id == gateway }),
            self.gateways[index].isStreaming != isOn
        else { return }
        self.gateways[index].isStreaming = isOn
        if isOn {
            self.streaming.append(gateway)
        } else {
            self.streaming.removeAll { $0 == gateway }
        }
    }

    /// A connection comes in, or again. Returns the member when it is its user's first one.
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
        if let index = self.gateways.firstIndex(where: { $0.id == gateway }) {
            self.gateways[index].connections += 1
        } else {
            self.gateways.append(Gateway(id: gateway, connections: 1))
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

    /// A connection goes. Returns the member when it was its user's last one.
    mutating func leave(_ connection: UInt64) -> Member? {
        guard let occupant = self.occupants.removeValue(forKey: connection) else { return nil }
        if let index = self.gateways.firstIndex(where: { $0.id == occupant.gateway }) {
            self.gateways[index].connections -= 1
            if self.gateways[index].connections <= 0 {
                self.gateways.remove(at: index)
                self.streaming.removeAll { $0 == occupant.gateway }
            }
        }
        guard let user = self.users[occupant.user] else { return nil }
        if user.connections > 1 {
            self.users[occupant.user]?.connections -= 1
            return nil
        }
        self.users.removeValue(forKey: occupant.user)
        return user.member
    }

    /// A gateway went away: its connections are in doubt and its stream stops.
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
