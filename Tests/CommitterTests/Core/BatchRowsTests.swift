import Canvas
import Testing
import Timing
import Wire

@testable import CommitterCore

/// The rows of a batch under construction.
@Suite struct BatchRowsTests {
    private var rows = BatchRows(ShardBatch(shard: 3, version: 7, gseq: 40, chain: 11), commits: 2)
    private let key = ElementKey("room", "e")

    @Test mutating func elementIsWrittenOnceInItsLastState() {
        let (first, second) = (Self.entry(rotation: 10), Self.entry(rotation: 20))
        self.rows.write(first, seq: 5)
        self.rows.write(second, seq: 6)
        #expect(self.rows.batch.elements.map(\.seq) == [6])
        #expect(self.rows.batch.elements.map(\.live.element.rotation) == [20])
        #expect(self.rows.element(self.key) == .live(second.written))
    }

    @Test mutating func restoredElementStaysSoUntilItIsWritten() {
        var restored = Self.entry(rotation: 10)
        restored.isRestored = true
        self.rows.write(restored, seq: 5)
        self.rows.write(Self.entry(rotation: 20), seq: 6)
        #expect(self.rows.batch.elements.map(\.isRestored) == [true])
    }

    @Test mutating func stateThatIsOnlyReadIsNotWritten() {
        self.rows.note(.deleted(Self.authors), for: self.key)
        #expect(self.rows.element(self.key) == .deleted(Self.authors))
        #expect(self.rows.batch.elements.isEmpty)
        self.rows.write(Self.entry(rotation: 10), seq: 5)
        #expect(self.rows.batch.elements.count == 1)
    }

    @Test mutating func roomsStreamsAndUsersHaveOneRowEach() {
        let stream = StreamKey("room", "s1")
        let state = StreamState(user: "ann", highest: 4, sessionEpoch: 1)
        let user = UserKey("room", "ann")
        var stacks = UndoStacks()
        #expect(self.rows.room("room") == nil && self.rows.stream(stream) == nil && self.rows.stacks(of: user) == nil)
        for number in UInt64(5)...6 {
            self.rows.note(StoredRoom(seq: number), for: "room")
            self.rows.use(up: number, of: stream, state)
            stacks.undo.head = number
            self.rows.keep(stacks, of: user)
        }
        #expect(self.rows.batch.rooms.rows.map(\.value) == [StoredRoom(seq: 6)])
        #expect(self.rows.batch.streams.rows.map(\.value.highest) == [6])
        #expect(self.rows.stream(stream)?.highest == 6)
        #expect(self.rows.batch.stacks.rows.map(\.key) == [user])
        #expect(self.rows.stacks(of: user) == stacks)
    }

    @Test mutating func roomsOfABatchAreToldApart() {
        for (room, seq) in [("a", 1), ("b", 7), ("a", 2)] as [(Identifier, UInt64)] {
            self.rows.note(StoredRoom(seq: seq), for: room)
        }
        #expect(self.rows.batch.rooms.rows.map(\.key) == ["a", "b"])
        #expect(self.rows.room("a")?.seq == 2 && self.rows.room("b")?.seq == 7 && self.rows.room("c") == nil)
    }

    @Test mutating func eachCommitContinuesTheChain() {
        let commit = PreparedCommit(commit(5, transform("e", rotation: 10)), size: 1, arrived: .start)
        let link = self.rows.advance(over: commit, seq: 9)
        #expect(self.rows.batch.gseq == 41)
        #expect(self.rows.batch.chain == HistoryChain.next(11, link))
        let change = Change(event: .transformed, entries: [Self.entry(rotation: 10)])
        self.rows.log(change, commit, seq: 9, nil, adjusted: nil)
        let row = self.rows.batch.log.first
        #expect(row?.gseq == 41 && row?.chain == self.rows.batch.chain && row?.element == "e")
        self.rows.refuse(commit, .unchanged(seq: 9))
        #expect(
            self.rows.batch.refusals
                == [ShardBatch.RefusalRow(key: commit.key, hash: commit.hash, outcome: .unchanged(seq: 9))])
    }

    private static func entry(rotation: Double) -> Change.Entry {
        var element = Element(id: "e", type: "note", createdBy: "ann")
        element.rotation = rotation
        return Change.Entry(ElementKey("room", "e"), before: [], element, children: nil, authors: Self.authors)
    }

    private static let authors = RecentAuthors(last: ChangeMark(user: "ann", seq: 4))
}
