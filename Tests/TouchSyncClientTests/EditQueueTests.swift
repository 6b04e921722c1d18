import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// The edits of a room in their order.
@Suite struct EditQueueTests {
    private var queue = EditQueue(capacity: 20_000)

    @Test mutating func transformsOfOneElementFoldUntilSomethingElseHappensToIt() {
        for edit in [Self.move("a", as: "1"), Self.move("b", as: "2"), Self.move("a", as: "3")] { self.append(edit) }
        #expect(self.queue.edits.map(\.ids) == [["1", "3"], ["2"]])
        self.append(Self.delete("b", as: "4"))
        self.append(Self.move("b", as: "5"))
        #expect(self.queue.edits.map(\.ids) == [["1", "3"], ["2"], ["4"], ["5"]])
        self.append(ClientEdit(ids: ["6"], event: "history:undo", body: .empty))
        self.append(Self.move("a", as: "7"))
        #expect(self.queue.edits.count == 6, "an undo may change any element")
        #expect(self.queue.next(limit: 1, seq: 0)?.ids == ["1", "3"])
        #expect(self.queue.edits(of: TextKey("a")).map(\.ids) == [["1", "3"], ["7"]])
    }

    @Test mutating func resultsMakeSpace() throws {
        self.queue = EditQueue(capacity: 2)
        for id in ["a", "b"] { self.append(Self.delete(id, as: id)) }
        #expect(self.queue.append(Self.delete("c", as: "c")) == false)
        let first = try self.next(limit: 1)
        #expect(self.queue.next(limit: 1, seq: 0)?.key == nil)
        self.queue.acknowledge(first.key, seq: 5)
        #expect(self.queue.openCount == 1)
        #expect(self.queue.append(Self.delete("c", as: "c")) == true)
        #expect(self.queue.removeSettled(upTo: 4).isEmpty)
        #expect(self.queue.removeSettled(upTo: 5).map(\.ids) == [["a"]])
        #expect(self.queue.edits(of: TextKey("a")).isEmpty && self.queue.edits.map(\.ids) == [["b"], ["c"]])
    }

    @Test mutating func whatFillsANumberGoesInItsPlace() throws {
        for id in ["a", "b", "c"] { self.append(Self.delete(id, as: id)) }
        let unknown = try self.next(limit: 2)
        _ = try self.next(limit: 2)
        self.queue.fill(unknown.key)
        self.queue.remove(unknown.key)
        let sent = (0..<3).compactMap { _ in self.queue.next(limit: 3, seq: 0) }
        #expect(sent.map(\.event) == ["element:update", "element:delete", "element:delete"])
        #expect(sent.map(\.number) == [1, 2, 3] && self.queue.openCount == 3)
    }

    @Test mutating func onlyWhatWasSentIsInDoubt() throws {
        for id in ["a", "b", "c"] { self.append(Self.delete(id, as: id)) }
        let first = try self.next(limit: 2)
        _ = try self.next(limit: 2)
        self.queue.sessionLost(sid: TextKey("old"))
        #expect(self.queue.doubtful.map(\.ids) == [["a"], ["b"]])
        #expect(self.queue.streamed(1)?.key == nil, "a number of the former session")
        self.queue.acknowledge(first.key, seq: 9)
        #expect(self.queue.doubtful.map(\.ids) == [["b"]] && self.queue.unnumbered.map(\.ids) == [["b"], ["c"]])
        self.queue.clearDoubts()
        #expect(!self.queue.hasDoubts && self.queue.firstNumber == 1)
        #expect(self.queue.next(limit: 2, seq: 9)?.ids == ["b"])
        #expect(self.queue.streamed(1)?.ids == ["b"])
    }

    /// What happens to one edit does not depend on how many others there are.
    @Test(.timeLimit(.minutes(1))) mutating func longQueueCostsNoMoreForEachEdit() throws {
        for number in 0..<20_000 { self.append(Self.move("\(number)", as: "\(number)")) }
        for number in 0..<20_000 {
            let edit = try self.next(limit: 32)
            #expect(self.queue.edits(of: TextKey("\(number)")).count == 1)
            #expect(self.queue.streamed(Int64(number + 1))?.key == edit.key)
            self.queue.acknowledge(edit.key, seq: Int64(number))
            #expect(self.queue.removeSettled(upTo: Int64(number)).count == 1)
        }
        #expect(self.queue.openCount == 0 && self.queue.edits.isEmpty)
    }

    private mutating func append(_ edit: ClientEdit) {
        let isAppended = self.queue.append(edit)
        #expect(isAppended)
    }

    private mutating func next(limit: Int) throws -> ClientEdit {
        let next = self.queue.next(limit: limit, seq: 0)
        return try #require(next)
    }

    private static func move(_ element: String, as id: String) -> ClientEdit {
        ClientEdit(ids: [id], event: "element:transform", body: JSONObject { $0.member("elementId", element) })
    }

    private static func delete(_ element: String, as id: String) -> ClientEdit {
        ClientEdit(ids: [id], event: "element:delete", body: JSONObject { $0.member("elementId", element) })
    }
}
