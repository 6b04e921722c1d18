import FanoutCore
import FanoutDaemon
import Mesh
import Testing
import Timing
import Trust
import Wire

/// Whose records reach the core.
@Suite struct FanoutStageTests {
    /// A gateway was killed and started again. What its former process had said arrives after the new one has spoken.
    @Test func newestConnectionOfAGatewayCounts() throws {
        var stage = FanoutStage(limits: FanoutLimits(), outboxBytes: 1 << 20)
        let (former, present) = (PeerID(slot: 1, serial: 1), PeerID(slot: 2, serial: 2))
        for peer in [former, present] { stage.peerUp(peer, name: "gateway-1") }
        var now = Instant.start + .seconds(1)
        func receive(_ record: some WireRecord, from peer: PeerID) throws {
            try Self.receive(record, from: peer, at: now, in: &stage)
        }
        try receive(Self.interest("ann", 1), from: former)
        try receive(Self.interest("ben", 2), from: present)
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 1)
        try receive(Leave(room: "r", connection: 2), from: former)
        try receive(Self.interest("ann", 1), from: former)
        stage.peerDown(former, at: now)
        now = now + .seconds(60)
        stage.work(at: now, time: 0) { _ in true }
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 1, "the new process and its apps are still there")
        stage.peerDown(present, at: now)
        now = now + .seconds(60)
        stage.work(at: now, time: 0) { _ in true }
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 0)
    }

    /// A gateway could not say who has left: whoever it does not name again is gone.
    @Test func aGatewayThatWasNotHeardNamesItsConnectionsAgain() throws {
        var stage = FanoutStage(limits: FanoutLimits(), outboxBytes: 1 << 20)
        let peer = PeerID(slot: 1, serial: 1)
        stage.peerUp(peer, name: "gateway-1")
        var now = Instant.start + .seconds(1)
        for (user, connection) in [("ann", 1), ("ben", 2)] as [(String, UInt64)] {
            try Self.receive(Self.interest(user, connection), from: peer, at: now, in: &stage)
        }
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 2)
        try Self.receive(InterestReset(), from: peer, at: now, in: &stage)
        now = now + .seconds(60)
        stage.work(at: now, time: 0) { _ in true }
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 0)
        try Self.receive(Self.interest("ann", 1), from: peer, at: now, in: &stage)
        try Self.receive(InterestReset(), from: peer, at: now, in: &stage)
        try Self.receive(Self.interest("ann", 1), from: peer, at: now, in: &stage)
        now = now + .seconds(60)
        stage.work(at: now, time: 0) { _ in true }
        #expect(stage.fanout.rooms.connectionCount(in: "r") == 1)
    }

    private static func receive(
        _ record: some WireRecord, from peer: PeerID, at now: Instant, in stage: inout FanoutStage
    ) throws {
        var writer = ByteWriter()
        record.encode(into: &writer)
        let isTaken = try writer.bytes.withUnsafeBytes { bytes in
            try stage.received(type(of: record).kind, ByteReader(bytes), from: peer, as: .all, at: now)
        }
        #expect(isTaken)
    }

    private static func interest(_ user: String, _ connection: UInt64) -> RoomInterest {
        RoomInterest(
            room: "r", position: Position(epoch: "e", seq: 0),
            occupants: [RoomInterest.Occupant(connection: connection, member: .named(user))])
    }
}
