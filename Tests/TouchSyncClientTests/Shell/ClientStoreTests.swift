import Canvas
import JSONBytes
import NIOConcurrencyHelpers
import Testing
import TouchSyncClientCore

@testable import TouchSyncClient

/// What the client does with a store.
@Suite(.timeLimit(.minutes(1))) struct ClientStoreTests {
    @Test(arguments: [nil, ""]) func aStoreNeedsAnOwner(owner: String?) {
        #expect(throws: ClientSetupError.ownerMissing) {
            try SyncClient(
                url: "http://127.0.0.1", store: MemoryEditStore(), owner: owner, transport: ScriptedTransport())
        }
    }

    @Test func savesFollowEachOtherAndTheLastOneWins() async throws {
        let store = MemoryEditStore()
        let fixture = try Fixture(store: store, owner: "ada")
        let room = fixture.client.room("demo")
        // Held too early, the store would not open, for which everything that is read waits.
        #expect(await room.seq == 0)
        await store.hold()
        let edits = (1...20).map { room.delete("\($0)").elementIds }
        #expect(edits.count == 20)
        #expect(await room.pending == 20)
        await store.release()
        await fixture.client.close()
        #expect(await store.editCount(in: "demo") == 20)
        #expect(await store.wereApart)
        #expect(await store.isClosed)
    }

    @Test func whatWasSavedIsSentInRoomsThatTheAppDoesNotOpen() async throws {
        let store = MemoryEditStore()
        let first = try Fixture(store: store, owner: "ada")
        _ = first.client.room("demo").delete("a")
        await first.client.close()
        let second = try Fixture(store: store, owner: "ada")
        second.client.connect()
        let connection = try await second.transport.connection()
        try await connection.accept()
        try await connection.join(note("a"))
        try await connection.answer("element:delete", #"{"ok":true,"seq":2,"elementIds":["a"],"adjusted":[]}"#)
        try await connection.answer("room:leave", #"{"ok":true}"#)
        await second.client.close()
        #expect(await store.editCount(in: "demo") == nil)
    }

    @Test func aStoreThatFailsIsReportedAndNotNeeded() async throws {
        let store = MemoryEditStore()
        await store.hold()
        await store.fail()
        let fixture = try Fixture(store: store, owner: "ada")
        var errors = fixture.client.errors.makeAsyncIterator()
        // Not before somebody listens.
        await store.release()
        let (room, _) = try await fixture.entered()
        #expect(await errors.next() as? EditStoreError == .inUse)
        #expect(await room.elements.count == 1)
        await fixture.client.close()
        #expect(await !store.isClosed, "what was not opened is not given back")
    }

    @Test func aStoreThatDoesNotOpenIsReportedAndNotNeeded() async throws {
        let store = MemoryEditStore()
        await store.hold()
        let fixture = try Fixture(store: store, owner: "ada")
        var errors = fixture.client.errors.makeAsyncIterator()
        let room = fixture.client.room("demo")
        fixture.client.connect()
        try await eventually {
            fixture.time.advance(by: 1000)
            return fixture.transport.openings > 0
        }
        #expect(await errors.next() as? EditStoreError == .timedOut)
        await store.release()
        try await eventually { await store.isClosed }
        room.delete("a")
        #expect(await room.pending == 1)
        await fixture.client.close()
        #expect(await store.editCount(in: "demo") == nil, "what opens too late is given back, and not used")
    }

    @Test func aStoreThatHangsDoesNotHoldTheApp() async throws {
        let store = MemoryEditStore()
        let account = EditAccount(owner: "ada", origin: "http://127.0.0.1")
        let queue = SaveQueue(store: store, account: account) { _ in }
        await store.hold()
        queue.save(nil, room: "demo")
        await queue.close(patience: .milliseconds(1))
        #expect(await store.isClosed)
        await store.release()
    }

    enum Saving: CaseIterable {
        case works, hangs, fails
    }

    @Test func aFailureIsNotTakenForASave() async throws {
        let store = MemoryEditStore()
        let account = EditAccount(owner: "ada", origin: "http://127.0.0.1")
        let (failures, saves) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        let queue = SaveQueue(store: store, account: account) { _ in failures.withLockedValue { $0 += 1 } }
        await store.fail()
        queue.save(nil, room: "demo") { saves.withLockedValue { $0 += 1 } }
        await queue.close(patience: .seconds(30))
        #expect(failures.withLockedValue { $0 } == 1 && saves.withLockedValue { $0 } == 0)
    }

    /// Otherwise an app that ends in between would send them again, under other numbers.
    @Test(arguments: Saving.allCases)
    func editsThatWereKeptWithoutANumberAreSentWhenItIsKept(saving: Saving) async throws {
        let store = MemoryEditStore()
        let fixture = try Fixture(store: store, owner: "ada")
        var errors = fixture.client.errors.makeAsyncIterator()
        fixture.client.room("demo").delete("a")
        try await eventually { await store.editCount(in: "demo") == 1 }
        if saving == .fails { await store.fail() } else { await store.hold() }
        let (room, connection) = try await fixture.entered()
        if saving == .fails { #expect(await errors.next() as? EditStoreError == .inUse) }
        #expect(await room.pending == 1)
        #expect(connection.unheard == [])
        room.point(Point(x: 1, y: 2))
        #expect(await room.pending == 1)
        #expect(connection.unheard == [], "nothing overtakes an edit")
        if saving == .works {
            await store.release()
        } else {
            try await eventually {
                fixture.time.advance(by: 1000)
                return !connection.unheard.isEmpty
            }
        }
        try await connection.answer("element:delete", #"{"ok":true,"seq":2,"elementIds":["a"],"adjusted":[]}"#)
        #expect(try await connection.heard().contains("cursor:moving"))
        await store.release()
    }

    @Test func aSaveThatFailsIsReported() async throws {
        let store = MemoryEditStore()
        let fixture = try Fixture(store: store, owner: "ada")
        var errors = fixture.client.errors.makeAsyncIterator()
        let room = fixture.client.room("demo")
        #expect(await room.seq == 0)
        await store.fail()
        room.delete("a")
        #expect(await errors.next() as? EditStoreError == .inUse)
        #expect(await room.pending == 1)
    }

    @Test func aClientThatNobodyKeepsGivesTheStoreBack() async throws {
        let store = MemoryEditStore()
        do {
            let fixture = try Fixture(store: store, owner: "ada")
            _ = fixture.client.room("demo").delete("a")
            #expect(await fixture.client.room("demo").pending >= 0)
        }
        try await eventually { await store.isClosed }
    }

    /// An edit of an ended session: only the history knows what became of it.
    @Test func aPageThatCannotBeHadIsReadInSmallerOnes() async throws {
        let text =
            #"{"room":"demo","record":{"sid":"old","nextNumber":3,"gesture":0,"edits":["#
            + #"{"ids":["x"],"event":"element:preset","body":{"elementId":"a","preset":"flipX"},"n":2,"after":4,"doubt":"old"}]}}"#
        let store = MemoryEditStore([try #require(SavedEdits(text: Array(text.utf8)))])
        let fixture = try Fixture(store: store, owner: "ada")
        fixture.transport.fail()
        fixture.transport.fail()
        fixture.transport.answer(#"{"entries":[{"seq":5,"sid":"bob","n":1,"changes":[]}],"next":5,"oldest":1}"#)
        let found = #"{"seq":6,"sid":"old","n":2,"changes":[{"elementId":"a","after":\#(note("a"))}]}"#
        fixture.transport.answer(#"{"entries":[\#(found)],"next":null,"oldest":1}"#)
        let (room, _) = try await fixture.entered()
        for requests in 1...2 {
            try await eventually { fixture.transport.requests.count == requests }
            try await eventually {
                fixture.time.advance(by: 1000)
                return fixture.transport.requests.count > requests
            }
        }
        try await eventually { await room.pending == 0 }
        let base = "http://127.0.0.1:8080/api/rooms/demo/history?after="
        #expect(
            fixture.transport.requests.map(\.url) == [
                base + "4&limit=200", base + "4&limit=10", base + "4&limit=1", base + "5&limit=200",
            ])
        await fixture.client.close()
        #expect(await store.editCount(in: "demo") == nil)
    }
}

/// A store that outlives clients.
actor MemoryEditStore: EditStore {
    private var records: [String: SavedEdits] = [:]
    private var isFailing = false
    private var isHeld = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isBusy = false
    /// Whether no save began before the one before it was done.
    private(set) var wereApart = true
    private(set) var isClosed = false

    init(_ saved: [SavedEdits] = []) {
        for edits in saved { self.records[edits.room] = edits }
    }

    func fail() { self.isFailing = true }

    /// Opening and saving wait.
    func hold() { self.isHeld = true }

    func release() {
        self.isHeld = false
        for continuation in self.waiting { continuation.resume() }
        self.waiting = []
    }

    /// The number of a room's edits; nil if nothing is kept of it.
    func editCount(in room: String) -> Int? {
        guard let edits = self.records[room] else { return nil }
        return JSONObject(text: edits.text)?["record"]?["edits"]?.count
    }

    func open(_ account: EditAccount) async throws -> [SavedEdits] {
        if self.isHeld { await withCheckedContinuation { self.waiting.append($0) } }
        if self.isFailing { throw EditStoreError.inUse }
        self.isClosed = false
        return Array(self.records.values)
    }

    func save(_ edits: SavedEdits, of account: EditAccount) async throws {
        if self.isFailing { throw EditStoreError.inUse }
        await self.begin()
        self.records[edits.room] = edits
        self.isBusy = false
    }

    func clear(_ room: String, of account: EditAccount) async throws {
        if self.isFailing { throw EditStoreError.inUse }
        await self.begin()
        self.records[room] = nil
        self.isBusy = false
    }

    private func begin() async {
        if self.isBusy { self.wereApart = false }
        self.isBusy = true
        if self.isHeld { await withCheckedContinuation { self.waiting.append($0) } }
    }

    func close(_ account: EditAccount) { self.isClosed = true }
}
