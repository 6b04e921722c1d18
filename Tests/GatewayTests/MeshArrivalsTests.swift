import GatewayDaemon
import Logging
import Stages
import Testing
import Wire

@testable import GatewayCore

/// What comes from the stages behind a gateway, by who sent it.
@Suite struct MeshArrivalsTests {
    private let intake = EnvelopeIntake(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
        Issue.record("malformed")
    }

    /// Two fan-outs that serve, and which of them has the room "r".
    private static func twoFanouts() throws -> (ShardOwners, owner: Int) {
        var fanouts = ShardOwners(names: ["fanout-1", "fanout-2"])
        for index in 0..<2 { fanouts.changed(index, .serves) }
        return (fanouts, try #require(fanouts.owner(of: "r" as Identifier)))
    }

    private func receive(
        _ envelope: EnvelopeWriter, from fanout: Int, _ fanouts: ShardOwners, in scene: inout Scene
    ) {
        var arrivals = MeshArrivals()
        envelope.bytes.withUnsafeBytes { bytes in
            arrivals.receive(
                bytes, from: StageInstance(.fanout, fanout), fanouts, self.intake, at: scene.moment, seconds: 0,
                to: &scene.gateway, into: &scene.actions
            ) { _ in }
        }
        arrivals.deliver(at: scene.moment, to: &scene.gateway, into: &scene.actions)
    }

    /// It has said farewell to everybody who moved to the owner, and would leave them out of the list of members.
    @Test func onlyTheRoomsOwnFanoutAnswersAJoin() throws {
        var scene = Scene()
        let (fanouts, owner) = try Self.twoFanouts()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let join = try #require(scene.take().joins.first)
        var envelope = EnvelopeWriter()
        envelope.append(scene.answer(to: join, sid: "s-ada"))
        for (sender, acknowledged) in [(1 - owner, []), (owner, [1])] as [(Int, [UInt64])] {
            self.receive(envelope, from: sender, fanouts, in: &scene)
            #expect(scene.take().acknowledged == acknowledged)
        }
    }

    /// What a former one still says may be older than what the owner has said.
    @Test func onlyTheRoomsOwnFanoutSaysWhoIsThere() throws {
        var scene = Scene()
        let (fanouts, owner) = try Self.twoFanouts()
        let ada = try scene.member("ada")
        let ben = Member(user: "ben", name: "Ben", color: "")
        var envelope = EnvelopeWriter()
        envelope.append(Presence(room: "r", hasJoined: true, member: ben, except: 0))
        envelope.append(RoomMembers(room: "r", isComplete: true, members: []))
        for (sender, count) in [(1 - owner, 0), (owner, 3)] {
            self.receive(envelope, from: sender, fanouts, in: &scene)
            #expect(scene.take().texts(for: ada).count == count)
        }
    }

    /// A position hides all awareness, because its sender sends them again behind it. Those of a former fan-out
    /// are ignored, so its position must be as well.
    @Test func onlyTheRoomsOwnFanoutHidesWhatOthersShow() throws {
        var scene = Scene()
        let (fanouts, owner) = try Self.twoFanouts()
        let ada = try scene.member("ada", seq: 5)
        let selection = Awareness(
            room: "r", connection: 77, user: "ben", sid: "s-ben", version: 1, value: .selection(["e"]))
        var shown = EnvelopeWriter()
        shown.append(selection)
        self.receive(shown, from: owner, fanouts, in: &scene)
        #expect(scene.take().texts(for: ada).count == 1)
        var position = EnvelopeWriter()
        position.append(RoomPosition(room: "r", position: Position(epoch: "e", seq: 5), isReset: false))
        for (sender, count) in [(1 - owner, 0), (owner, 1)] {
            self.receive(position, from: sender, fanouts, in: &scene)
            #expect(scene.take().texts(for: ada).count == count)
        }
    }
}
