import Canvas
import Testing
import Timing
import Wire

@testable import FanoutCore

/// Who sees a room, without the room.
@Suite struct RoomAudienceTests {
    private var audience = RoomAudience(of: "r")
    private var services = RoomServices(limits: FanoutLimits(), rules: .defaults)

    private init() {
        var actions: [FanoutAction] = []
        _ = self.audience.enter(1, at: Scene.g1, as: .named("ann"), into: &actions)
        _ = self.audience.interestReceived(Self.interest(2, "ben"), from: Scene.g2)
        _ = self.audience.interestEnded(of: Scene.g2)
    }

    @Test func catchingUpGatewaySeesWhatIsOutsideOfTheStream() {
        var audience = self.audience
        var actions: [FanoutAction] = []
        audience.broadcast(.sessionClaimed(Self.news), into: &actions)
        _ = audience.interestReceived(Self.interest(2, "ben"), from: Scene.g2)
        audience.broadcast(.sessionClaimed(Self.news), into: &actions)
        #expect(
            actions == [
                .broadcast(.sessionClaimed(Self.news), to: [Scene.g1], except: nil),
                .broadcast(.sessionClaimed(Self.news), to: [Scene.g1, Scene.g2], except: nil),
            ])
    }

    @Test func previewIsNotSentBackToALoneMover() {
        var audience = self.audience
        var actions: [FanoutAction] = []
        let preview = Preview.cursor(nil, in: "r", connection: 1, user: "ann", sid: "s", version: 1)
        audience.show(preview, into: &actions)
        #expect(actions.isEmpty)
        _ = audience.enter(2, at: Scene.g2, as: .named("ben"), into: &actions)
        audience.show(preview, into: &actions)
        #expect(actions == [.broadcast(.preview(preview), to: [Scene.g1, Scene.g2], except: Scene.g1)])
        _ = audience.enter(3, at: Scene.g1, as: .named("cem"), into: &actions)
        actions = []
        audience.show(preview, into: &actions)
        #expect(actions == [.broadcast(.preview(preview), to: [Scene.g1, Scene.g2], except: nil)])
    }

    @Test mutating func jumpStopsAllStreams() {
        self.audience.jumped(from: Position(epoch: "e", seq: 3))
        #expect(self.audience.streaming.isEmpty && self.audience.catchingUp == [Scene.g1])
    }

    @Test mutating func lastConnectionTakesItsGatewayAndItsPersonWithIt() {
        var actions: [FanoutAction] = []
        _ = self.audience.interestReceived(Self.interest(2, "ben"), from: Scene.g2)
        #expect(self.audience.depart(2, with: &self.services, into: &actions) == true)
        let presence = Presence(room: "r", hasJoined: false, member: .named("ben"), except: 0)
        #expect(actions == [.broadcast(.presence(presence), to: [Scene.g1], except: nil)])
        actions = []
        #expect(self.audience.depart(1, isSilent: true, with: &self.services, into: &actions) == false)
        #expect(actions.isEmpty && self.audience.isEmpty)
    }

    private static func interest(_ connection: UInt64, _ user: String) -> RoomInterest {
        RoomInterest(
            room: "r", position: Position(epoch: "e", seq: 3),
            occupants: [RoomInterest.Occupant(connection: connection, member: .named(user))])
    }

    @Test(arguments: [true, false]) mutating func connectionsInDoubtThatAGatewayDoesNotNameAreGone(wasDown: Bool) {
        if wasDown { self.audience.linkDown(to: Scene.g1) }
        let (joined, gone) = self.audience.interestReceived(Self.interest(3, "ann"), from: Scene.g1)
        #expect(joined.isEmpty && gone == (wasDown ? [1] : []) && self.audience.streaming.isEmpty)
        #expect(self.audience.catchingUp == [Scene.g1])
    }

    @Test mutating func gatewayThatEndsItsInterestCatchesUpNoMore() {
        _ = self.audience.interestReceived(Self.interest(2, "ben"), from: Scene.g2)
        #expect(self.audience.isCatchingUp(Scene.g2))
        #expect(self.audience.interestEnded(of: Scene.g2) == [2])
        #expect(!self.audience.isCatchingUp(Scene.g2))
    }

    private static let news = SessionClaimed(room: "r", sid: "s", claim: 2)
}
