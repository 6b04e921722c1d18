import Canvas
import GatewayCore
import GatewayDaemon
import Mesh
import Stages
import Testing
import Timing
import Wire

/// Which instances get what the core decides for a shard.
@Suite struct MeshRoutesTests {
    private var routes = MeshRoutes(pause: .milliseconds(1))

    @discardableResult
    private mutating func comesUp(_ stage: Stage, _ number: Int, greeting: [UInt8] = []) -> ShardOwners.Change {
        self.routes.follow(.added(number, name: "\(stage.rawValue)-\(number)"), of: stage)
        let change = self.routes.follow(.up(number, greeting: greeting, isResting: false), of: stage)
        // What leaves because it is up.
        _ = self.flush()
        return change
    }

    /// The instances for which envelopes leave.
    private mutating func flush(at now: Instant = .start + .seconds(1), _ answer: SendResult = .sent) -> [StageInstance]
    {
        var instances: [StageInstance] = []
        self.routes.flush(at: now) { _, instance in
            instances.append(instance)
            return answer
        }
        return instances
    }

    /// The records that leave for a stage.
    private mutating func records(for stage: Stage = .coalescer) throws -> [RecordKind] {
        var kinds: [RecordKind] = []
        var envelopes: [[UInt8]] = []
        self.routes.flush(at: .start + .seconds(1)) { envelope, instance in
            if instance.stage == stage { envelopes.append(envelope.bytes) }
            return .sent
        }
        for envelope in envelopes {
            try envelope.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                while let (kind, _) = try reader.next() { kinds.append(kind) }
            }
        }
        return kinds
    }

    private static let shard = Shard.of(room: "r")

    private static let commit = Commit(
        room: "r", session: "s", sessionEpoch: 1, number: 1, user: "u", connection: 1, gateway: "g",
        gestures: [], edit: EncodedEdit(tag: UpdateElement.traits.tag, fields: [0]))

    private static func preview(of room: Identifier) -> Preview {
        Preview(
            room: room, element: "e", connection: 1, user: "u", sid: "s", gesture: 1, after: 0, folded: 1,
            sinceLast: 0, fields: TransformFields(positionX: 1))
    }

    @Test mutating func aRecordWithoutAnOwnerIsDropped() {
        let leave = FanoutRecord.leave(Leave(room: "r", connection: 1))
        self.routes.record(leave, of: Self.shard)
        self.comesUp(.fanout, 0)
        // No other had the shard before.
        self.routes.formerRecord(leave, of: Self.shard)
        #expect(self.flush().isEmpty)
    }

    @Test mutating func aCommitGoesToItsCommitterAlone() {
        self.comesUp(.coalescer, 0)
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .noInstance)
        #expect(self.routes.acceptsCommit(of: Self.shard), "there is no credit to wait for")
        self.comesUp(.committer, 0)
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .sent)
        #expect(self.flush() == [StageInstance(.committer, 0)])
    }

    @Test mutating func aCommitBeyondTheCreditIsNotSent() {
        self.comesUp(.committer, 0, greeting: CommitCredit(commits: 1, bytes: 1000).greeting)
        #expect(self.routes.acceptsCommit(of: Self.shard) == true)
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .sent)
        #expect(self.routes.acceptsCommit(of: Self.shard) == false)
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .noCredit)
        self.routes.allow(CommitCredit(commits: 2, bytes: 2000), of: 0)
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .sent)
    }

    @Test mutating func whatIsForAConnectionThatIsGoneNeverLeavesOverTheNextOne() {
        self.comesUp(.fanout, 0)
        let leave = FanoutRecord.leave(Leave(room: "r", connection: 1))
        self.routes.record(leave, of: Self.shard)
        self.routes.follow(.down(0), of: .fanout)
        self.routes.record(leave, of: Self.shard)
        self.routes.follow(.up(0, greeting: [], isResting: false), of: .fanout)
        #expect(self.flush().isEmpty)
    }

    /// What it was told before is lost: it forgets the rest, and the rooms ask again, as if it had come back.
    @Test mutating func roomsOfAFanoutThatWasTooSlowAskAgain() throws {
        self.comesUp(.fanout, 0)
        let text = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let signal = RoomSignal(room: "r", connection: 1, user: "u", sid: "s", name: "wave", data: text)
        self.routes.record(.signal(signal), of: Self.shard)
        #expect(self.flush(at: .start + .seconds(1), .wouldBlock) == [StageInstance(.fanout, 0)])
        let first = self.routes.follow(.writable(0), of: .fanout)
        #expect(first.shards.isEmpty)
        #expect(self.flush(at: .start + .seconds(1), .wouldBlock) == [StageInstance(.fanout, 0)])
        for _ in 0..<20 { self.routes.record(.signal(signal), of: Self.shard) }
        let change = self.routes.follow(.writable(0), of: .fanout)
        #expect(change.orphaned == Set(0..<Shard.count) && self.routes.droppedEnvelopes > 0)
        #expect(try self.records(for: .fanout) == [.interestReset])
    }

    @Test(arguments: [(0, nil), (0.5, 500), (1, 1000)] as [(Double, UInt64?)])
    mutating func envelopesOfPreviewsPauseAsTheLoadAsks(share: Double, pause: UInt64?) {
        self.comesUp(.coalescer, 0)
        let now = Instant.start + .seconds(2)
        self.routes.pause(share)
        self.routes.preview(Self.preview(of: "r"), of: Self.shard)
        #expect(self.flush(at: now).count == 1)
        #expect(self.routes.nextDeadline == nil)
        self.routes.preview(Self.preview(of: "r"), of: Self.shard)
        #expect(self.flush(at: now).count == (pause == nil ? 1 : 0))
        #expect(self.routes.nextDeadline == pause.map { now + .microseconds($0) })
    }

    @Test mutating func theEndOfAGestureLeavesBehindItsPreviewsAndInTheirPlace() throws {
        let end = GestureEnd(room: "r", element: "e", user: "u", sid: "s", gesture: 1, connection: 1)
        self.comesUp(.coalescer, 0)
        self.routes.preview(Self.preview(of: "r"), of: Self.shard)
        self.routes.previewsEnd(end, of: Self.shard)
        #expect(try self.records() == [.preview, .gestureEnd])
        self.routes.preview(Self.preview(of: "r"), of: Self.shard)
        #expect(self.flush(at: .start + .seconds(1), .wouldBlock).count == 1)
        self.routes.preview(Self.preview(of: "r"), of: Self.shard)
        self.routes.previewsEnd(end, of: Self.shard)
        self.routes.follow(.writable(0), of: .coalescer)
        #expect(try self.records() == [.preview, .gestureEnd])
    }

    @Test mutating func aRemovedCoalescerGetsNothingMore() {
        for number in 0...1 { self.comesUp(.coalescer, number) }
        self.routes.follow(.down(1), of: .coalescer)
        self.routes.follow(.removed(1), of: .coalescer)
        for shard in 0..<Shard.count { self.routes.preview(Self.preview(of: "r"), of: shard) }
        #expect(self.flush() == [StageInstance(.coalescer, 0)])
    }
}
