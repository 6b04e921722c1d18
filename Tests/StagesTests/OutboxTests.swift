import Mesh
import Stages
import Testing
import Wire

@Suite struct OutboxTests {
    private let leave = Leave(room: "room", connection: 1)

    @Test func whatALinkDoesNotTakeWaitsInOrder() {
        var outbox = Outbox(limit: 1 << 20)
        outbox.append(self.leave)
        var sent: [[UInt8]] = []
        outbox.flush { _ in .wouldBlock }
        outbox.append(Leave(room: "other", connection: 2))
        outbox.flush {
            sent.append($0)
            return .sent
        }
        #expect(sent.count == 2 && outbox.isEmpty && outbox.takeDropped() == 0)
        #expect(sent[0].count < sent[1].count)
    }

    @Test func tooMuchIsDroppedAndCounted() {
        var outbox = Outbox(limit: 100)
        for _ in 0..<50 {
            outbox.append(self.leave)
            outbox.flush { _ in .wouldBlock }
        }
        let dropped = outbox.takeDropped()
        #expect((40..<50).contains(dropped))
        outbox.drop()
        #expect(outbox.takeDropped() == 50 - dropped && outbox.isEmpty)
        outbox.append(self.leave)
        outbox.flush { _ in .unroutable }
        #expect(outbox.takeDropped() == 1 && outbox.takeDropped() == 0)
    }

    @Test func largeBatchesLeaveInSeveralEnvelopes() {
        var outbox = Outbox(limit: 10 << 20)
        let update = Update(
            shard: 0, gseq: 1, room: "room", seq: 1, event: .created, user: "u", sid: "s", number: 1,
            elements: [UpdatedElement(id: "e", json: Array(repeating: 0x20, count: 60_000))])
        for _ in 0..<10 { outbox.append(update) }
        var envelopes = 0
        outbox.flush { _ in
            envelopes += 1
            return .sent
        }
        #expect(envelopes == 4)
    }

    @Test func whatThePeerWouldNotAcceptIsDropped() {
        var outbox = Outbox(limit: 1 << 20, largestEnvelope: 100)
        outbox.append(envelope: Array(repeating: 0, count: 101))
        outbox.append(envelope: Array(repeating: 1, count: 100))
        var sent: [[UInt8]] = []
        outbox.flush {
            sent.append($0)
            return .sent
        }
        #expect(sent == [Array(repeating: 1, count: 100)] && outbox.takeDropped() == 1)
    }

    @Test func anEnvelopeKeepsItsPlaceAmongRecordsAndCountsAsOne() {
        var outbox = Outbox(limit: 1 << 20)
        outbox.append(self.leave)
        outbox.append(envelope: [1, 2, 3])
        outbox.append(self.leave)
        var sent: [[UInt8]] = []
        outbox.flush {
            sent.append($0)
            return .sent
        }
        #expect(sent.count == 3 && sent[1] == [1, 2, 3] && sent[0] == sent[2])
        outbox.append(envelope: [1, 2, 3])
        outbox.drop()
        #expect(outbox.takeDropped() == 1)
    }
}
