import Canvas
import Mesh
import Stages
import Testing
import Timing
import Wire

@Suite struct OutboxTests {
    private var outboxes = Outboxes<Int>(OutboxLimits(bytes: 1000, keys: 100))
    private let leave = Leave(room: "room", connection: 1)

    init() { self.outboxes.linkUp(0) }

    /// The envelopes that leave with a flush, each as the kinds of its records.
    private mutating func flush(at now: Instant = .start, _ answer: SendResult = .sent) throws -> [[RecordKind]] {
        var sent: [[UInt8]] = []
        self.outboxes.flush(at: now) { envelope, _ in
            if answer == .sent { sent.append(envelope.bytes) }
            return answer
        }
        return try sent.map { envelope in
            try envelope.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                var kinds: [RecordKind] = []
                while let (kind, _) = try reader.next() { kinds.append(kind) }
                return kinds
            }
        }
    }

    /// The link accepts envelopes again, and nothing was dropped.
    private mutating func accept() {
        let isToRepair = self.outboxes.writable(0)
        #expect(!isToRepair)
    }

    private static func update(_ bytes: Int) -> Update {
        Update(
            shard: 0, gseq: 1, room: "room", seq: 1, event: .created, user: "u", sid: "s", number: 1,
            elements: [UpdatedElement(id: "e", json: Array(repeating: 0x20, count: bytes))])
    }

    private static func preview(_ element: Identifier, gesture: UInt64 = 1) -> Preview {
        Preview(
            room: "r", element: element, connection: 1, user: "u", sid: "s", gesture: gesture, after: 0, folded: 1,
            sinceLast: 0, fields: .init(positionX: 1))
    }

    @Test mutating func whatALinkDoesNotAcceptWaitsInOrder() throws {
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(.wouldBlock) == [])
        self.outboxes.append(CommitCredit(commits: 1, bytes: 1), to: 0)
        #expect(try self.flush() == [], "nothing is offered before the link accepts again")
        self.accept()
        #expect(try self.flush() == [[.leave], [.commitCredit]])
        #expect(self.outboxes.isEmpty && self.outboxes.dropped == 0)
    }

    @Test mutating func anOverflowDropsAllThatWaitsAndIsToldOnce() throws {
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(.wouldBlock) == [])
        for _ in 0..<99 { self.outboxes.append(self.leave, to: 0) }
        #expect(self.outboxes.isEmpty && self.outboxes.dropped == 100 && self.outboxes.droppedEnvelopes > 0)
        let isToRepair = (self.outboxes.writable(0), self.outboxes.writable(0))
        #expect(isToRepair == (true, false))
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush() == [[.leave]])
    }

    @Test mutating func whatIsOnItsWayOverALinkThatWentDownNeverLeavesOverTheNextOne() throws {
        self.outboxes.append(self.leave, to: 0)
        self.outboxes.append(latest: Self.preview("direct"), to: 0)
        #expect(try self.flush(.wouldBlock) == [])
        self.outboxes.append(self.leave, to: 0)
        self.outboxes.append(latest: Self.preview("held"), to: 0)
        let waiting = self.outboxes.linkDown(0)
        #expect(waiting.map(\.element) == ["held"], "another peer may get it")
        self.outboxes.append(self.leave, to: 0)
        self.outboxes.linkUp(0)
        #expect(try self.flush() == [])
        #expect(self.outboxes.dropped == 3 && self.outboxes.unreachable == 1)
    }

    @Test mutating func aPeerThatIsGoneCostsItsEnvelope() throws {
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(.unroutable) == [])
        #expect(self.outboxes.dropped == 1 && self.outboxes.isEmpty)
    }

    @Test mutating func largeBatchesLeaveInSeveralEnvelopes() throws {
        for _ in 0..<10 { self.outboxes.append(Self.update(60_000), to: 0) }
        #expect(try self.flush().map(\.count) == [3, 3, 3, 1])
    }

    @Test mutating func whatThePeerWouldNotAcceptIsDropped() throws {
        self.outboxes.append(Self.update(LinkOptions.maximumIncomingBytes), to: 0)
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush() == [[.leave]])
        #expect(self.outboxes.dropped == 1 && self.outboxes.droppedEnvelopes == 1)
    }

    @Test mutating func previewsFoldWhileALinkIsFullAndLeaveLast() throws {
        self.outboxes.append(latest: Self.preview("a"), to: 0)
        self.outboxes.append(latest: Self.preview("a"), to: 0)
        #expect(try self.flush(.wouldBlock) == [])
        for _ in 0..<9 { self.outboxes.append(latest: Self.preview("a"), to: 0) }
        self.outboxes.append(latest: Self.preview("b"), to: 0)
        let end = GestureEnd(room: "r", element: "b", user: "u", sid: "s", gesture: 1, connection: 1)
        self.outboxes[0]?.remove([end.endedPreviews])
        self.outboxes.append(self.leave, to: 0)
        self.accept()
        #expect(self.outboxes.heldPreviews == 10)
        #expect(try self.flush() == [[.preview, .preview], [.leave], [.preview]])
    }

    @Test mutating func apauseHoldsBackWhatFollowsTooSoon() throws {
        self.outboxes.pause = .milliseconds(2)
        let now = Instant.start + .seconds(1)
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(at: now) == [[.leave]])
        #expect(self.outboxes.nextDeadline == nil)
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(at: now + .milliseconds(1)) == [])
        #expect(self.outboxes.nextDeadline == now + .milliseconds(2))
        self.outboxes.append(self.leave, to: 0)
        #expect(try self.flush(at: now + .milliseconds(2)) == [[.leave, .leave]])
        #expect(self.outboxes.nextDeadline == nil)
    }

    @Test mutating func creditIsSpentForACommitThatFillsAnEnvelope() throws {
        self.outboxes.linkUp(1, greeting: CommitCredit(commits: 100, bytes: 300_000).greeting)
        var sent = 0
        while sent < 10, self.outboxes[1]?.appendCredited(Self.update(200_000)) == true { sent += 1 }
        #expect(sent == 2 && self.outboxes.closedCount == 1)
        #expect(try self.flush() == [[.update], [.update]])
        self.outboxes[1]?.allow(CommitCredit(commits: 200, bytes: 1_000_000))
        #expect(self.outboxes.closedCount == 0)
    }

    /// The receiver gives credit back for what it was sent alone.
    @Test mutating func anOverflowGivesTheCreditBackThatItsCommitsHaveCost() throws {
        self.outboxes.linkUp(0, greeting: CommitCredit(commits: 5, bytes: 1 << 20).greeting)
        #expect(self.outboxes[0]?.appendCredited(self.leave) == true)
        #expect(try self.flush(.wouldBlock) == [])
        #expect(self.outboxes[0]?.appendCredited(Self.update(2000)) == true)
        #expect(self.outboxes[0]?.appendCredited(self.leave) == false, "an overflow accepts no commits")
        let isToRepair = self.outboxes.writable(0)
        #expect(isToRepair)
        for _ in 0..<5 { #expect(self.outboxes[0]?.appendCredited(self.leave) == true) }
        #expect(self.outboxes[0]?.appendCredited(self.leave) == false)
        #expect(try self.flush().map(\.count) == [5])
    }
}

@Suite struct StageRoutesTests {
    private var routes = StageRoutes(OutboxLimits(bytes: 1000, keys: 100))

    init() {
        for number in 0..<2 {
            self.routes.follow(.added(number, name: "instance-\(number)"))
            self.routes.follow(.up(number, greeting: [], isResting: false))
        }
    }

    /// The instances that a flush offers something.
    private mutating func flush(_ answer: SendResult = .sent) -> [Int] {
        var offered: [Int] = []
        self.routes.outboxes.flush(at: .start) { _, instance in
            offered.append(instance)
            return answer
        }
        return offered
    }

    @Test mutating func recordsGoToTheOwnersOfTheirShards() {
        for shard in 0..<Shard.count { self.routes.append(Leave(room: "r", connection: 1), ofShard: shard) }
        #expect(self.flush() == [0, 1])
        self.routes.follow(.down(0))
        self.routes.append(Leave(room: "r", connection: 1), ofShard: 0)
        #expect(self.flush() == [1])
        #expect(self.routes.outboxes.unreachable == 0)
        self.routes.follow(.down(1))
        self.routes.append(Leave(room: "r", connection: 1), ofShard: 0)
        #expect(self.flush() == [])
        #expect(self.routes.outboxes.unreachable == 1)
    }

    @Test mutating func previewsThatWaitForAnInstanceThatGoesDownGoToTheNextOwner() throws {
        let shard = Shard.of(room: "r")
        let owner = try #require(self.routes.owners.owner(of: shard))
        let preview = Preview(
            room: "r", element: "e", connection: 1, user: "u", sid: "s", gesture: 1, after: 0, folded: 1, sinceLast: 0,
            fields: .init(positionX: 1))
        self.routes.append(Leave(room: "r", connection: 1), ofShard: shard)
        #expect(self.flush(.wouldBlock) == [owner])
        self.routes.append(latest: preview, ofShard: shard)
        #expect(self.flush() == [])
        self.routes.follow(.down(owner))
        #expect(self.flush() == [1 - owner])
    }

    @Test mutating func anInstanceThatWasTooSlowCountsAsOneThatCameBack() {
        let shard = (0..<Shard.count).first { self.routes.owners.owner(of: $0) == 1 } ?? 0
        self.routes.append(Leave(room: "r", connection: 1), ofShard: shard)
        #expect(self.flush(.wouldBlock) == [1])
        let first = self.routes.follow(.writable(1))
        #expect(first.shards.isEmpty)
        #expect(self.flush(.wouldBlock) == [1])
        for _ in 0..<100 { self.routes.append(Leave(room: "r", connection: 1), ofShard: shard) }
        let moved = self.routes.follow(.writable(1)).orphaned
        #expect(moved == Set((0..<Shard.count).filter { self.routes.owners.owner(of: $0) == 1 }))
        let second = self.routes.follow(.writable(1))
        #expect(second.shards.isEmpty)
    }
}
