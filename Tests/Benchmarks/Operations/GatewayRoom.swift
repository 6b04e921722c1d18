import GatewayCore
import Timing
import Wire

/// A gateway with one room and its members, whose joins were answered.
struct GatewayRoom {
    var gateway: Gateway
    /// What the gateway wants done.
    var actions: [GatewayAction] = []
    /// The members; the first ones move things.
    private(set) var slots: [Slot] = []
    var now = Instant.start + .seconds(1)

    init(members: Int) throws {
        self.gateway = Gateway(name: Sample.gateway, connectionPrefix: 2, seed: 1, limits: GatewayLimits(), tokens: nil)
        for number in 0..<members {
            let user = Sample.varied(Sample.user, number)
            let handshake = try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil })
            let identity = Identity(member: Member(user: user, name: user.text, color: "#3b82f6"))
            let slot = self.gateway.connected(
                identity: identity, handshake: handshake, at: self.now, into: &self.actions)
            self.slots.append(slot)
            self.receive(Array(#"["room:join",{"roomId":"\#(Sample.room)"}]"#.utf8), ackID: 0, from: slot)
            self.answerJoins(sid: Sample.varied(Sample.sid, number))
        }
        self.actions.removeAll()
    }

    mutating func receive(_ event: [UInt8], ackID: UInt64?, from slot: Slot) {
        self.gateway.eventReceived(
            event, ackID: ackID, from: slot, at: self.now, seconds: 0, into: &self.actions)
    }

    private mutating func answerJoins(sid: Identifier) {
        for case .fanout(_, .join(let join)) in self.actions {
            let joined = JoinReply.Joined(
                position: Position(epoch: "e", seq: 41), content: .elements(Array("[]".utf8)), members: [join.member],
                session: "secret", sid: sid, sessionEpoch: 1, number: 0)
            self.gateway.joinAnswered(
                JoinReply(
                    request: join.request, room: join.room, connection: join.connection, outcome: .success(joined)),
                at: self.now, seconds: 0, into: &self.actions)
        }
        self.actions.removeAll()
    }
}
