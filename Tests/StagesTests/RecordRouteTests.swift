import Logging
import NIOConcurrencyHelpers
import Stages
import Testing
import Trust
import Wire

/// Who may send which records to whom.
@Suite struct RecordRouteTests {
    private func senders(_ kind: RecordKind, to receiver: PeerRole) -> PeerRoles { kind.senders(to: receiver) }

    @Test func recordsOnlyGoTheirWay() {
        let (gateway, coalescer) = (PeerRoles(.gateway), PeerRoles(.coalescer))
        let (committer, fanout) = (PeerRoles(.committer), PeerRoles(.fanout))
        #expect(self.senders(.update, to: .fanout) == committer)
        #expect(self.senders(.update, to: .gateway) == fanout)
        #expect(self.senders(.commit, to: .committer) == gateway)
        #expect(self.senders(.gestureEnd, to: .coalescer) == gateway)
        #expect(self.senders(.commitResult, to: .gateway) == committer)
        #expect(self.senders(.preview, to: .fanout) == coalescer)
        #expect(self.senders(.preview, to: .gateway) == fanout)
        #expect(self.senders(.join, to: .fanout) == gateway)
        #expect(self.senders(.interestReset, to: .fanout) == gateway)
        #expect(self.senders(.joinReply, to: .gateway) == fanout)
        #expect(self.senders(.rulesNotice, to: .fanout) == committer)
    }

    @Test func everyKindHasASenderAndNobodySendsToItself() {
        for kind in RecordKind.allCases {
            let routes = PeerRole.allCases.map { (receiver: $0, senders: kind.senders(to: $0)) }
            #expect(routes.contains { !$0.senders.isEmpty }, "\(kind)")
            for route in routes { #expect(!route.senders.contains(PeerRoles(route.receiver)), "\(kind)") }
        }
    }

    @Test func foreignRecordsAreSkippedAndCounted() {
        let foreign = NIOLockedValueBox(0)
        let intake = EnvelopeIntake(
            at: .fanout, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onForeign: { foreign.withLockedValue { $0 += 1 } }, onRefusal: { Issue.record("malformed") })
        var envelope = EnvelopeWriter()
        envelope.append(RulesNotice(fingerprint: 1))
        envelope.append(Leave(room: "a", connection: 1))
        envelope.append(RulesNotice(fingerprint: 2))
        func kinds(from roles: PeerRoles) -> [RecordKind] {
            var kinds: [RecordKind] = []
            envelope.bytes.withUnsafeBytes { bytes in
                intake.walk(bytes, from: roles) { kind, _ throws(EnvelopeError) in kinds.append(kind) }
            }
            return kinds
        }
        #expect(kinds(from: PeerRoles(.gateway)) == [.leave])
        #expect(foreign.withLockedValue { $0 } == 2)
        #expect(kinds(from: PeerRoles(.committer)) == [.rulesNotice, .rulesNotice])
        #expect(kinds(from: PeerRoles(.coalescer)).isEmpty)
        #expect(foreign.withLockedValue { $0 } == 6)
        // A link without keys proves nothing, and excludes nothing.
        #expect(kinds(from: .all).count == 3)
        #expect(foreign.withLockedValue { $0 } == 6)
    }

    @Test func aGatewaySendsCommitsOfItsOwn() {
        let commit = Commit(
            room: "r", session: "s", sessionEpoch: 1, number: 1, user: "u", connection: 1,
            gateway: "gateway-1", gestures: [], edit: EncodedEdit(DeleteElement(element: "e")))
        #expect(commit.isOwned(by: PeerRoles(.gateway), named: "gateway-1"))
        #expect(!commit.isOwned(by: PeerRoles(.gateway), named: "gateway-2"))
        #expect(!commit.isOwned(by: PeerRoles(.gateway), named: nil))
        // A coalescer passes on what gateways sent, and a link without keys does not prove who sent it.
        #expect(commit.isOwned(by: PeerRoles(.coalescer), named: "coalescer-1"))
        #expect(commit.isOwned(by: .all, named: "gateway-2"))
    }
}
