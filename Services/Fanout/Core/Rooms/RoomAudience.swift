internal import Timing
internal import Wire

/// Who sees a room: its members, the gateways that they come through, and what each connection shows of its person.
///
/// What it sends goes to the gateways that stream the room; what is outside of the numbered stream goes also to those
/// that still catch up.
struct RoomAudience: Sendable {
    let name: Identifier
    var occupancy = Occupancy()
    var catchUps = CatchUps()
    var owners = SessionOwners()

    init(of room: Identifier) {
        self.name = room
    }

    /// Roughly the bytes that it occupies.
    var footprint: Int { self.occupancy.connectionCount * 256 + self.occupancy.selectionBytes }

    // MARK: The stream

    /// Sends the next update of the room's stream.
    func stream(_ update: Update, into actions: inout [FanoutAction]) {
        let streaming = self.occupancy.streaming
        if !streaming.isEmpty { actions.append(.broadcast(.update(update), to: streaming, except: nil)) }
    }

    /// Sends a preview of an element, except to a gateway that has no other connection here than the one that moves it.
    func show(_ preview: Preview, into actions: inout [FanoutAction]) {
        let streaming = self.occupancy.streaming
        if streaming.isEmpty { return }
        let lone = self.occupancy.loneGateway(of: preview.connection)
        if let lone, streaming.count == 1, streaming[0] == lone { return }
        actions.append(.broadcast(.preview(preview), to: streaming, except: lone))
    }

    /// The room jumped: all gateways catch up from the position that it was at.
    mutating func jumped(from position: Position) {
        for gateway in self.occupancy.streaming {
            self.occupancy.stream(false, to: gateway)
            self.catchUps.begin(gateway, at: position)
        }
    }

    /// A gateway's link went down: its stream stops, its members stay in doubt.
    mutating func linkDown(to gateway: GatewayID) {
        self.occupancy.doubt(gateway)
        _ = self.catchUps.cancel(gateway)
    }

    // MARK: Goings

    /// A connection leaves.
    /// - Parameter isSilent: its user is still in the room, elsewhere.
    /// - Returns: true when its gateway leaves with it and need not catch up any more.
    mutating func depart(
        _ connection: UInt64, isSilent: Bool = false, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        self.hideAttention(of: connection, into: &actions)
        let departure = self.occupancy.leave(connection)
        self.owners.remove(connection)
        var isFreed = false
        if let gateway = departure.gateway {
            services.gateways.left(self.name, by: gateway)
            isFreed = self.catchUps.cancel(gateway)
        }
        if let member = departure.member, !isSilent {
            self.announce(member, hasJoined: false, except: 0, into: &actions)
        }
        return isFreed
    }

    // MARK: Records

    /// Tells members that one came or went. `except` is the member's connection, which hears of it otherwise.
    func announce(_ member: Member, hasJoined: Bool, except: UInt64, into actions: inout [FanoutAction]) {
        let presence = Presence(room: self.name, hasJoined: hasJoined, member: member, except: except)
        self.broadcast(.presence(presence), into: &actions)
    }

    /// Sends what is outside of the numbered stream.
    func broadcast(_ record: GatewayRecord, into actions: inout [FanoutAction]) {
        var audience = self.occupancy.streaming
        if !self.catchUps.isEmpty {
            audience = self.occupancy.gateways.filter {
                self.occupancy.isStreaming($0) || self.catchUps.includes($0)
            }
        }
        if !audience.isEmpty { actions.append(.broadcast(record, to: audience, except: nil)) }
    }
}
