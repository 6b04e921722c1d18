import Canvas
import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing
import Wire

@testable import OperatorDaemon

/// Imports and deletions on the real tables.
@Suite(.timeLimit(.minutes(2))) struct LiveRoomTests {
    private let database: LiveDatabase
    private let connection: BlockingConnection

    init() throws {
        self.database = try LivePostgres.freshDatabase()
        _ = try Migrator(CommitterDaemon.migrations).migrate(self.database.connectionString)
        self.connection = try self.database.connect()
    }

    /// A room as a new run of a command finds it.
    private func store(_ room: String = "r") throws -> RoomStore {
        RoomStore(room, on: try self.database.connect())
    }

    /// Notes, the first of them locked, each of the first `annotated` with one annotation.
    private static func elements(_ count: Int, annotated: Int = 0) -> [Element] {
        let notes = (0..<count).map { index in
            var note = Element(id: "n\(index)", type: "note", createdBy: "ann")
            note.updatedBy = "bob"
            note.rev = Int64(index) + 1
            note.locked = index == 0
            note.positionX = Double(index)
            return note
        }
        return notes
            + notes.prefix(annotated).map { note in
                var text = Element(id: "t-\(note.id)", type: "text", createdBy: "cem")
                text.space = .normalized
                text.parentId = note.id
                return text
            }
    }

    private static func file(_ elements: [Element]) -> [UInt8] {
        RoomFile(room: "elsewhere", epoch: "e", seq: 1, elements: elements).text
    }

    @Test func aRoomIsListedAlsoWhenItsLogIsGone() throws {
        for room in ["b", "a", "c"] {
            let note = try #require(Self.elements(1).first)
            _ = try self.store(room).commit(.restore([note]), session: SessionKey.command(room), number: 1)
        }
        _ = try self.connection.execute("DELETE FROM commit_log WHERE room_id = 'a'")
        let page = try StoredRooms(after: "", limit: 2, on: self.connection)
        #expect(page.rooms.map(\.id) == ["a", "b"] && page.next == "b")
        #expect(page.rooms.map(\.elements) == [1, 1] && page.rooms[0].bytes == page.rooms[1].bytes)
        #expect(page.rooms[0].changedAt == nil && page.rooms[1].changedAt != nil)
        let last = try StoredRooms(after: "b", limit: 2, on: self.connection)
        #expect(last.rooms.map(\.id) == ["c"] && last.next == nil)
    }

    private func number(_ sql: String) throws -> Int64? { try self.connection.execute(sql).int8(0, 0) }

    /// The room's and the shard's numbers have no gap, and each row of the log continues the chain of the one before.
    private func expectIntactLog() throws {
        let rows = try self.connection.execute(
            "SELECT room_id, seq, gseq, session, n, body_hash, chain FROM commit_log ORDER BY gseq")
        var chain: UInt64 = 0
        for row in 0..<rows.count {
            let texts = try #require(rows.text(row, 0).flatMap { room in rows.text(row, 3).map { (room, $0) } })
            let numbers = [1, 2, 4, 5, 6].compactMap { rows.int8(row, $0) }.map { UInt64(bitPattern: $0) }
            try #require(numbers.count == 5)
            #expect(numbers[0] == UInt64(row) + 1 && numbers[1] == UInt64(row) + 1)
            let link = HistoryChain.link(
                gseq: numbers[1], room: Identifier(texts.0), seq: numbers[0], session: Identifier(texts.1),
                number: numbers[2], body: numbers[3])
            chain = HistoryChain.next(chain, link)
            #expect(numbers[4] == chain)
        }
        let shard = Shard.of(room: "r")
        #expect(
            try self.number("SELECT chain FROM shards WHERE shard = \(shard)").map(UInt64.init(bitPattern:)) == chain)
        #expect(try self.number("SELECT gseq FROM shards WHERE shard = \(shard)") == Int64(rows.count))
        #expect(try self.number("SELECT seq FROM rooms WHERE room_id = 'r'") == Int64(rows.count))
    }

    @Test func anImportedRoomIsTheExportedOne() throws {
        let elements = Self.elements(600, annotated: 5)
        let work = try RoomImport(Self.file(elements))
        #expect(try work.run(on: self.store()) == 605)
        let contents = try self.store().contents()
        #expect(contents.seq == 2)
        #expect(contents.elements.sorted { $0.id < $1.id } == elements.sorted { $0.id < $1.id })
        try self.expectIntactLog()
        #expect(try self.number("SELECT count(*) FROM commit_log WHERE user_id = 'operator'") == 2)
    }

    @Test func anInterruptedImportIsCompletedByTheSameFile() throws {
        let file = Self.file(Self.elements(1200))
        let work = try RoomImport(file)
        let stop = try RoomFile(file).elements[700].id
        try self.connection.executeScript(
            "ALTER TABLE elements ADD CONSTRAINT stopped CHECK (id <> '\(stop)') NOT VALID")
        #expect(throws: PostgresError.self) { try work.run(on: self.store()) }
        #expect(try self.store().contents().elements.count == 500)
        try self.connection.executeScript("ALTER TABLE elements DROP CONSTRAINT stopped")
        #expect(try work.run(on: self.store()) == 700)
        #expect(try work.run(on: self.store()) == 0)
        #expect(try self.store().contents().elements.count == 1200)
        try self.expectIntactLog()
    }

    /// A refusal uses up its number, so a second run must not take it for done.
    @Test func anImportThatWasRefusedHalfwayIsNeverComplete() throws {
        let elements = Self.elements(600)
        let file = Self.file(elements)
        let work = try RoomImport(file)
        let stop = try RoomFile(file).elements[550].id
        try self.connection.executeScript(
            "ALTER TABLE elements ADD CONSTRAINT stopped CHECK (id <> '\(stop)') NOT VALID")
        #expect(throws: PostgresError.self) { try work.run(on: self.store()) }
        try self.connection.executeScript("ALTER TABLE elements DROP CONSTRAINT stopped")
        let taken = try RoomFile(file).elements[550]
        _ = try self.store().commit(.restore([taken]), session: SessionKey.command("other"), number: 1)
        for _ in 0..<2 {
            let failure = #expect(throws: OperatorFailure.self) { try work.run(on: self.store()) }
            #expect(failure?.description.contains("commit 2 of 2 was refused: The id is or was in use.") == true)
        }
        try self.expectIntactLog()
    }

    @Test func aRoomWithElementsOrUsedIDsIsRefused() throws {
        let work = try RoomImport(Self.file(Self.elements(3)))
        #expect(try work.run(on: self.store()) == 3)
        let other = try RoomImport(Self.file(Self.elements(2)))
        let full = #expect(throws: OperatorFailure.self) { try other.run(on: self.store()) }
        #expect(full?.description == "room r has 3 elements; an import needs a room without any")
        #expect(try RoomDeletion().run(on: self.store()) == 3)
        let used = #expect(throws: OperatorFailure.self) { try other.run(on: self.store()) }
        #expect(used?.description.hasPrefix("line 2: room r had an element \"n0\"") == true)
        #expect(try other.run(on: self.store("another")) == 2)
    }

    @Test func aDeletionIsDoneInBoundedCommits() throws {
        _ = try RoomImport(Self.file(Self.elements(700, annotated: 600))).run(on: self.store())
        let before = try self.store().contents().seq
        #expect(try RoomDeletion().run(on: self.store()) == 1300)
        let contents = try self.store().contents()
        #expect(contents.elements.isEmpty && contents.seq == before + 4)
        let sizes = try self.connection.execute(
            "SELECT json_array_length(before)::int8 FROM commit_log WHERE event = 'element:deleted' ORDER BY seq")
        #expect((0..<sizes.count).map { sizes.int8($0, 0) } == [500, 100, 500, 200])
        try self.expectIntactLog()
        #expect(try RoomDeletion().run(on: self.store()) == 0)
    }

    @Test func aCommitDecidedOnOutdatedStateIsDecidedAgain() throws {
        let (one, other) = (try self.store(), try self.store())
        #expect(throws: Refusal.self) {
            try one.commit(.delete(["x"]), session: SessionKey.command("a"), number: 1)
        }
        // What this one knows of the element is wrong from now on.
        let element = Element(id: "x", type: "note", createdBy: "ann")
        _ = try other.commit(.restore([element]), session: SessionKey.command("b"), number: 1)
        #expect(try one.commit(.delete(["x"]), session: SessionKey.command("a"), number: 2) == 2)
        #expect(try self.store().contents().elements.isEmpty)
        try self.expectIntactLog()
    }
}
