import Canvas
import GatewayCore
import GatewayDaemon
import Stages
import Testing
import Timing
import Wire

/// Which instances get what the core decides for a shard.
@Suite struct MeshRoutesTests {
    private var routes = MeshRoutes(pause: .zero)

    private mutating func comesUp(_ stage: Stage, _ number: Int, greeting: [UInt8] = []) {
        let instance = StageInstance(stage, number)
        self.routes.topology.added(instance, named: "\(stage.rawValue)-\(number)")
        self.routes.senders.linkUp(instance, greeting: greeting)
        _ = self.routes.topology.changed(instance, .serves)
        // What leaves because it is up.
        _ = self.flush()
    }

    private mutating func goesDown(_ stage: Stage, _ number: Int) {
        let instance = StageInstance(stage, number)
        self.routes.senders.linkDown(instance)
        _ = self.routes.topology.changed(instance, .isGone)
    }

    /// The instances for which envelopes leave.
    private mutating func flush() -> [StageInstance] {
        var instances: [StageInstance] = []
        self.routes.senders.flush(at: .start + .seconds(1)) { orders in
            for case .envelope(let envelope) in orders { instances.append(envelope.instance) }
        }
        return instances
    }

    /// A room whose shard a coalescer owns.
    private func room(ofCoalescer number: Int) throws -> Identifier {
        let rooms = (0..<1000).map { Identifier("r\($0)") }
        return try #require(rooms.first { self.routes.topology.coalescer(of: Shard.of(room: $0)) == number })
    }

    private static let shard = Shard.of(room: "r")

    private static let commit = Commit(
        room: "r", session: "s", claim: 1, number: 1, user: "u", connection: 1, gateway: "g",
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
        self.routes.senders.allow(CommitCredit(commits: 2, bytes: 2000), for: StageInstance(.committer, 0))
        #expect(self.routes.commit(Self.commit, of: Self.shard) == .sent)
    }

    @Test mutating func previewsThatWaitForARemovedCoalescerGoToTheNextOwner() throws {
        for number in 0...1 { self.comesUp(.coalescer, number) }
        self.routes.coalescerChanged(0, isOpen: true)
        let room = try self.room(ofCoalescer: 1)
        self.routes.preview(Self.preview(of: room), of: Shard.of(room: room))
        #expect(self.flush().isEmpty, "its link takes nothing now")
        self.goesDown(.coalescer, 1)
        self.routes.removed(StageInstance(.coalescer, 1))
        #expect(self.flush() == [StageInstance(.coalescer, 0)])
    }

    @Test mutating func aRemovedCoalescerGetsNothingMore() {
        for number in 0...1 { self.comesUp(.coalescer, number) }
        self.goesDown(.coalescer, 1)
        self.routes.removed(StageInstance(.coalescer, 1))
        self.routes.coalescerChanged(1, isOpen: true)
        // Sent past the routes: nothing leaves for it.
        self.routes.senders.preview(Self.preview(of: "r"), to: 1)
        #expect(self.flush().isEmpty)
    }
}
