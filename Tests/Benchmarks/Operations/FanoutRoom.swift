import FanoutCore
import Timing
import Wire

/// A fan-out with one room of twenty elements, whose ten members are at two gateways.
struct FanoutRoom {
    var fanout = Fanout()
    var actions: [FanoutAction] = []
    var now = Instant.start + .seconds(1)

    init() {
        let gateways = [GatewayID(1), GatewayID(2)]
        for gateway in gateways { self.fanout.linkUp(to: gateway, at: self.now) }
        let issuer = SessionIssuer(issue: { _, _ in (Sample.sid, "secret") }, verify: { _, _, _ in nil })
        self.fanout.databaseReached(epoch: "e", issuer: issuer, at: self.now, into: &self.actions)
        for number in 0..<10 {
            let user = Sample.varied(Sample.user, number)
            let join = Join(
                request: UInt64(number), room: Sample.room, connection: 0x2_0000_0001 + UInt64(number),
                member: Member(user: user, name: user.text, color: "#3b82f6"), session: "", resume: nil)
            self.fanout.joinReceived(join, from: gateways[number % 2], at: self.now, into: &self.actions)
            self.answer()
        }
        self.actions.removeAll()
    }

    /// The database has the room as `Sample` has it.
    private mutating func answer() {
        let asked = self.actions
        self.actions.removeAll()
        for case .read(let request) in asked {
            guard case .room = request.query else { continue }
            let elements = (0..<20).map { number in
                let id = number == 0 ? Sample.element : Sample.varied(Sample.element, number)
                return RoomSnapshot.Element(id: id, json: Sample.json(Sample.note(id)), seq: 41)
            }
            self.fanout.databaseAnswered(
                .room(RoomSnapshot(seq: 41, gseq: 41, elements: elements)), to: request.tag, at: self.now,
                into: &self.actions)
        }
    }
}
