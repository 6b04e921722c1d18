import Canvas
import GatewayCore
import GatewayDaemon
import Stages
import Testing
import Timing
import Wire

@Suite struct MeshSendersTests {
    private var senders = MeshSenders(pause: .milliseconds(1))

    /// The envelopes that leave with a flush, with the number of their records.
    private mutating func flush(at now: Instant = .start) throws -> [(size: Int, records: Int)] {
        var envelopes: [[UInt8]] = []
        self.senders.flush(at: now) { orders in
            for case .envelope(let envelope) in orders { envelopes.append(envelope.bytes) }
        }
        return try envelopes.map { envelope in
            try envelope.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                var records = 0
                while try reader.next() != nil { records += 1 }
                return (bytes.count, records)
            }
        }
    }

    @Test mutating func recordsThatAreTooManyForOneEnvelopeLeaveInSeveral() throws {
        for number in 0..<10_000 {
            self.senders.record(.leave(Leave(room: "room", connection: UInt64(number))), to: 0)
        }
        let envelopes = try self.flush()
        #expect(envelopes.count > 1 && envelopes.allSatisfy { $0.size < EnvelopeWriter.fullSize + 1000 })
        #expect(envelopes.reduce(0) { $0 + $1.records } == 10_000)
        #expect(try self.flush().isEmpty)
    }

    /// Whole envelopes that wait, the one that is filled, and what is decided while the link is down.
    @Test mutating func whatIsForAConnectionThatIsGoneNeverLeavesOverTheNextOne() throws {
        let fanout = StageInstance(.fanout, 0)
        self.senders.linkUp(fanout, greeting: [])
        for number in 0..<10_000 {
            self.senders.record(.leave(Leave(room: "room", connection: UInt64(number))), to: 0)
        }
        self.senders.linkDown(fanout)
        self.senders.record(.leave(Leave(room: "room", connection: 10_000)), to: 0)
        self.senders.linkUp(fanout, greeting: [])
        self.senders.record(.leave(Leave(room: "room", connection: 10_001)), to: 0)
        self.senders.record(.leave(Leave(room: "room", connection: 10_002)), to: 1)
        #expect(try self.flush().map(\.records) == [1, 1])
    }

    @Test mutating func creditIsSpentForACommitThatFillsAnEnvelope() throws {
        self.senders.linkUp(StageInstance(.committer, 0), greeting: CommitCredit(commits: 100, bytes: 300_000).greeting)
        let edit = EncodedEdit(tag: UpdateElement.traits.tag, fields: [UInt8](repeating: 0, count: 200_000))
        let commit = Commit(
            room: "r", session: "s", claim: 1, number: 1, user: "u", connection: 1,
            gateway: "g", gestures: [], edit: edit)
        var sent = 0
        while sent < 10, self.senders.commit(commit, to: 0) { sent += 1 }
        #expect(sent == 2)
        #expect(try self.flush().map(\.records) == [1, 1])
    }

    /// The levels of the notices that leave with a flush.
    private mutating func notices() throws -> [UInt16] {
        var envelopes: [[UInt8]] = []
        self.senders.flush(at: .start) { orders in
            for case .envelope(let envelope) in orders { envelopes.append(envelope.bytes) }
        }
        return try envelopes.flatMap { envelope in
            try envelope.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                var levels: [UInt16] = []
                while let (kind, fields) = try reader.next() {
                    guard kind == .gatheringNotice else { continue }
                    levels.append(try EnvelopeReader.decode(GatheringNotice.self, fields).level)
                }
                return levels
            }
        }
    }

    @Test mutating func coalescersAreNotifiedOfTheLoad() throws {
        self.senders.linkUp(StageInstance(.coalescer, 0), greeting: [])
        #expect(try self.notices() == [0])
        self.senders.gather(GatheringLevel(250))
        self.senders.gather(GatheringLevel(250))
        #expect(try self.notices() == [250])
        self.senders.linkUp(StageInstance(.committer, 0), greeting: [])
        self.senders.linkDown(StageInstance(.coalescer, 0))
        self.senders.linkUp(StageInstance(.coalescer, 0), greeting: [])
        #expect(try self.notices() == [250])
    }

    @Test(arguments: [(0, nil), (250, 500), (500, 1000), (1000, 1000)] as [(UInt16, UInt64?)])
    mutating func envelopesOfPreviewsPauseAsTheLoadAsks(level: UInt16, pause: UInt64?) {
        self.senders.gather(GatheringLevel(level))
        self.senders.setOpen(true, coalescer: 0)
        let now = Instant.start + .seconds(1)
        self.senders.preview(Self.preview, to: 0)
        self.senders.flush(at: now) { _ in }
        #expect(self.senders.nextDeadline == nil)
        self.senders.preview(Self.preview, to: 0)
        self.senders.flush(at: now) { _ in }
        #expect(self.senders.nextDeadline == pause.map { now + .microseconds($0) })
    }

    @Test mutating func theEndOfAGestureLeavesBehindItsPreviewsAndInTheirPlace() throws {
        func records() throws -> [RecordKind] {
            var kinds: [RecordKind] = []
            var envelopes: [[UInt8]] = []
            self.senders.flush(at: .start + .seconds(1)) { orders in
                for case .envelope(let envelope) in orders { envelopes.append(envelope.bytes) }
            }
            for envelope in envelopes {
                try envelope.withUnsafeBytes { bytes in
                    var reader = try EnvelopeReader(bytes)
                    while let (kind, _) = try reader.next() { kinds.append(kind) }
                }
            }
            return kinds
        }
        var other = Self.preview
        other.element = "f"
        let end = GestureEnd(room: "r", element: "e", user: "u", sid: "s", gesture: 1, connection: 1)
        self.senders.previewsEnd(end, to: 0)
        #expect(try records() == [], "the coalescer is not there: it holds nothing")
        self.senders.setOpen(true, coalescer: 0)
        self.senders.preview(Self.preview, to: 0)
        self.senders.preview(other, to: 0)
        self.senders.previewsEnd(end, to: 0)
        #expect(try records() == [.preview, .gestureEnd])
        #expect(try records() == [])
        for _ in 0..<10_000 { self.senders.previewsEnd(end, to: 0) }
        let envelopes = try self.flush(at: .start + .seconds(1))
        #expect(envelopes.count > 1 && envelopes.allSatisfy { $0.size < EnvelopeWriter.fullSize + 1000 })
        #expect(envelopes.reduce(0) { $0 + $1.records } == 10_000)
    }

    private static let preview = Preview(
        room: "r", element: "e", connection: 1, user: "u", sid: "s", gesture: 1, after: 0, folded: 1, sinceLast: 0,
        fields: TransformFields(positionX: 1))
}
