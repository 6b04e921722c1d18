import CoalescerDaemon
import Mesh
import Testing
import Wire

@Suite struct CommitRelayTests {
    private let sender = PeerID(slot: 0, serial: 1)
    private let window = CommitCredit(commits: 2, bytes: 1 << 20)

    /// A link that keeps what it accepts.
    private struct Outgoing {
        var result = SendResult.sent
        var envelopes: [[UInt8]] = []

        mutating func send(_ envelope: [UInt8]) -> SendResult {
            if self.result == .sent { self.envelopes.append(envelope) }
            return self.result
        }

        var gestures: [UInt64] {
            self.envelopes.flatMap { envelope -> [UInt64] in
                envelope.withUnsafeBytes { bytes in
                    var gestures: [UInt64] = []
                    guard var reader = try? EnvelopeReader(bytes) else { return [] }
                    while let record = try? reader.next() {
                        if let commit = try? EnvelopeReader.decode(Commit.self, record.fields) {
                            gestures.append(commit.gestures[0].gesture)
                        }
                    }
                    return gestures
                }
            }
        }
    }

    private func relay(greeting: [UInt8], maxWaiting: Int = 8) -> CommitRelay {
        var relay = CommitRelay(maxWaiting: maxWaiting)
        relay.linkUp(0, greeting: greeting)
        return relay
    }

    private func pass(_ gestures: ClosedRange<UInt64>, through relay: inout CommitRelay, to committer: Int? = 0) {
        for gesture in gestures {
            var fields = ByteWriter()
            commit(gesture: gesture).encode(into: &fields)
            fields.bytes.withUnsafeBytes { relay.pass(ByteReader($0), to: committer, from: self.sender) }
        }
    }

    @Test func commitsBeyondTheCreditWaitInOrder() {
        var relay = self.relay(greeting: self.window.greeting)
        var link = Outgoing()
        self.pass(1...5, through: &relay)
        relay.flush { envelope, _ in link.send(envelope) }
        #expect(link.gestures == [1, 2] && relay.waiting.commits == 3 && relay.closedCount == 1)
        #expect(relay.drainFinished()[self.sender]?.commits == 2)
        relay.allow(CommitCredit(commits: 5, bytes: 2 << 20), for: 0)
        self.pass(6...6, through: &relay)
        relay.retry(0) { envelope, _ in link.send(envelope) }
        #expect(link.gestures == [1, 2, 3, 4, 5, 6] && relay.isEmpty && relay.passed == 6)
        #expect(relay.drainFinished()[self.sender]?.commits == 4)
    }

    @Test func whatAFullLinkDidNotAcceptLeavesFirst() {
        var relay = self.relay(greeting: [])
        var link = Outgoing(result: .wouldBlock)
        self.pass(1...2, through: &relay)
        relay.flush { envelope, _ in link.send(envelope) }
        self.pass(3...3, through: &relay)
        relay.flush { envelope, _ in link.send(envelope) }
        #expect(relay.drainFinished().isEmpty && relay.waiting.commits == 3)
        link.result = .sent
        relay.retry(0) { envelope, _ in link.send(envelope) }
        #expect(link.gestures == [1, 2, 3] && relay.isEmpty)
    }

    @Test(arguments: [SendResult.sent, .wouldBlock])
    func aTurnsCommitsLeaveInSeveralEnvelopesWhenTheyAreTooManyForOne(first: SendResult) {
        var relay = self.relay(greeting: [])
        var link = Outgoing(result: first)
        self.pass(1...5000, through: &relay)
        #expect(!relay.isEmpty)
        relay.flush { envelope, _ in link.send(envelope) }
        link.result = .sent
        relay.retry(0) { envelope, _ in link.send(envelope) }
        #expect(link.envelopes.count > 1 && link.envelopes.allSatisfy { $0.count < EnvelopeWriter.fullSize + 1000 })
        #expect(link.gestures == Array(1...5000) && relay.isEmpty && relay.passed == 5000)
        #expect(relay.drainFinished()[self.sender]?.commits == 5000)
    }

    @Test func droppedCommitsGiveTheirCreditBackAndAreCounted() {
        var relay = self.relay(greeting: CommitCredit(commits: 1, bytes: 1 << 20).greeting, maxWaiting: 0)
        self.pass(1...1, through: &relay, to: nil)
        self.pass(2...3, through: &relay)
        relay.flush { _, _ in .unroutable }
        #expect(relay.dropped == [.unreachable: 1, .full: 1, .lost: 1])
        #expect(relay.drainFinished()[self.sender]?.commits == 3)
        relay.linkDown(0)
        #expect(relay.closedCount == 0)
    }
}
