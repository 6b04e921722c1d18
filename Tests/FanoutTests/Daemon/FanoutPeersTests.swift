import FanoutCore
import FanoutDaemon
import Logging
import Mesh
import Stages
import Testing
import Timing
import Trust
import Wire

/// Whose records reach the core.
@Suite struct FanoutPeersTests {
    private let intake = EnvelopeIntake(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
        Issue.record("malformed")
    }

    /// A gateway was killed and started again. What its former process had said arrives after the new one has spoken.
    @Test func newestConnectionOfAGatewayCounts() {
        var core = Fanout()
        var peers = FanoutPeers(outboxBytes: 1 << 20)
        let (former, present) = (PeerID(slot: 1, serial: 1), PeerID(slot: 2, serial: 2))
        var (now, actions) = (Instant.start + .seconds(1), [FanoutAction]())
        func receive(_ record: some WireRecord, from peer: PeerID) {
            var envelope = EnvelopeWriter()
            envelope.append(record)
            envelope.bytes.withUnsafeBytes { bytes in
                peers.receive(
                    bytes, from: peer, roles: .all, name: "gateway-1", self.intake, at: now, into: &core, &actions)
            }
        }
        receive(Self.interest("ann", 1), from: former)
        receive(Self.interest("ben", 2), from: present)
        #expect(core.connectionCount(in: "r") == 1)
        receive(Leave(room: "r", connection: 2), from: former)
        receive(Self.interest("ann", 1), from: former)
        peers.peerDown(former, at: now, into: &core)
        now = now + .seconds(60)
        core.timeReached(now, into: &actions)
        #expect(core.connectionCount(in: "r") == 1, "the new process and who is connected to it are still there")
        peers.peerDown(present, at: now, into: &core)
        now = now + .seconds(60)
        core.timeReached(now, into: &actions)
        #expect(core.connectionCount(in: "r") == 0)
    }

    private static func interest(_ user: String, _ connection: UInt64) -> RoomInterest {
        RoomInterest(
            room: "r", position: Position(epoch: "e", seq: 0),
            occupants: [RoomInterest.Occupant(connection: connection, member: .named(user))])
    }
}
