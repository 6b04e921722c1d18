import Canvas
import Foundation
import Testing

@Suite struct OfflineQueueTests {
    private typealias Queue = OfflineQueue<String>

    private func moved(_ x: Double, _ y: Double? = nil) -> TransformFields {
        TransformFields(positionX: x, positionY: y)
    }

    private func sendAll(_ queue: inout Queue) -> [Queue.Commit] {
        var sent: [Queue.Commit] = []
        while let commit = queue.next() { sent.append(commit) }
        return sent
    }

    @Test func aTransformReplacesThePreviousOneOfItsElement() {
        var queue = Queue(capacity: 10)
        #expect(queue.append(transform: self.moved(1, 1), of: "a") == .appended)
        #expect(queue.append(transform: self.moved(2), of: "b") == .appended)
        #expect(queue.append(transform: self.moved(3), of: "a") == .folded)
        #expect(queue.append(transform: TransformFields(rotation: 9), of: "a") == .folded)
        #expect(queue.count == 2)
        let folded = TransformFields(positionX: 3, positionY: 1, rotation: 9)
        #expect(
            self.sendAll(&queue).map(\.change) == [
                .transform(elementId: "a", fields: folded), .transform(elementId: "b", fields: self.moved(2)),
            ])
    }

    @Test func anEditOfTheElementInBetweenSeparatesTransforms() {
        var queue = Queue(capacity: 10)
        _ = queue.append("create a", elementIds: ["a"])
        #expect(queue.append(transform: self.moved(1), of: "a") == .appended)
        _ = queue.append("delete b and c", elementIds: ["b", "c"])
        #expect(queue.append(transform: self.moved(2), of: "a") == .folded)
        _ = queue.append("lock a", elementIds: ["a"])
        #expect(queue.append(transform: self.moved(3), of: "a") == .appended)
        #expect(queue.append(transform: self.moved(4), of: "c") == .appended)
        #expect(queue.count == 6)
    }

    @Test func idsAreComparedBytewise() {
        var queue = Queue(capacity: 10)
        #expect(queue.append(transform: self.moved(1), of: "e\u{301}") == .appended)
        #expect(queue.append(transform: self.moved(2), of: "\u{E9}") == .appended)
    }

    @Test func aStoredQueueSendsEverythingWithoutAnAnswerAgain() throws {
        var queue = Queue(capacity: 10, nextNumber: 7)
        for id in ["a", "b"] { _ = queue.append("edit", elementIds: [id]) }
        _ = queue.next()
        _ = queue.append(transform: self.moved(1), of: "c")
        var restored = try JSONDecoder().decode(Queue.self, from: JSONEncoder().encode(queue))
        queue.resend()
        #expect(restored == queue)
        #expect(self.sendAll(&restored).map(\.n) == [7, 8, 9])
    }

    @Test func whatWasSentIsNeverChanged() {
        var queue = Queue(capacity: 10, nextNumber: 7)
        _ = queue.append(transform: self.moved(1), of: "a")
        let first = queue.next()
        #expect(first == Queue.Commit(n: 7, change: .transform(elementId: "a", fields: self.moved(1))))
        #expect(queue.append(transform: self.moved(2), of: "a") == .appended)
        #expect(queue.append(transform: self.moved(3), of: "a") == .folded)
        queue.resend()
        #expect(
            self.sendAll(&queue) == [
                Queue.Commit(n: 7, change: .transform(elementId: "a", fields: self.moved(1))),
                Queue.Commit(n: 8, change: .transform(elementId: "a", fields: self.moved(3))),
            ])
    }

    @Test func aFullQueueSaysSoAndStillFolds() {
        var queue = Queue(capacity: 2)
        _ = queue.append(transform: self.moved(1), of: "a")
        #expect(!queue.isFull)
        _ = queue.append(transform: self.moved(1), of: "b")
        #expect(queue.isFull)
        #expect(queue.append(transform: self.moved(2), of: "c") == .full)
        #expect(queue.append("delete c", elementIds: ["c"]) == .full)
        #expect(queue.append(transform: self.moved(2), of: "a") == .folded)
        #expect(queue.count == 2)
        let n = queue.next()?.n
        #expect(queue.append("delete c", elementIds: ["c"]) == .full)
        #expect(queue.settle(n ?? 0) != nil)
        #expect(queue.append("delete c", elementIds: ["c"]) == .appended)
    }

    @Test(arguments: notFinite)
    func numbersThatAreNotFiniteAreRefused(number: Double) {
        var queue = Queue(capacity: 2)
        for fields in [
            self.moved(number), self.moved(0, number), TransformFields(rotation: number),
            TransformFields(scaleX: number), TransformFields(scaleY: number),
            TransformFields(rotation: 1, width: number),
            TransformFields(rotation: 1, height: number), TransformFields(), TransformFields(width: 1),
        ] {
            #expect(queue.append(transform: fields, of: "a") == .invalid)
        }
        #expect(queue.isEmpty)
    }

    @Test func aSecondAnswerChangesNothing() {
        var queue = Queue(capacity: 9)
        for id in ["a", "b", "c"] { _ = queue.append("edit", elementIds: [id]) }
        #expect(self.sendAll(&queue).map(\.n) == [1, 2, 3])
        #expect(queue.settle(2)?.n == 2)
        #expect(queue.settle(2) == nil)
        #expect(queue.settle(99) == nil)
        #expect(queue.next() == nil)
        queue.resend()
        #expect(self.sendAll(&queue).map(\.n) == [1, 3])
        // An answer to the first sending while the second is under way.
        queue.resend()
        #expect(queue.next()?.n == 1)
        #expect(queue.settle(1) != nil)
        #expect(self.sendAll(&queue).map(\.n) == [3])
    }

    @Test func aNewSessionNumbersEverythingFromItsBeginning() {
        var queue = Queue(capacity: 9, nextNumber: 40)
        for edit in ["first", "second"] { _ = queue.append(edit, elementIds: ["a"]) }
        _ = queue.next()
        queue.beginSession()
        #expect(
            self.sendAll(&queue) == [
                Queue.Commit(n: 1, change: .edit("first", elementIds: ["a"])),
                Queue.Commit(n: 2, change: .edit("second", elementIds: ["a"])),
            ])
    }

    /// A server that applies each number once, and the whole of what the user did as the expected result.
    @Test(arguments: [201, 202, 203, 204] as [UInt64])
    func whateverIsLostTheReplayHasTheSameResultAsEverythingInOrder(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<200 {
            var queue = Queue(capacity: 8)
            var (server, expected) = (Board(), Board())
            var (applied, answers): (Int64, [Int64]) = (0, [])
            func step(_ action: Int) {
                let id = ["a", "b", "c"].randomElement(using: &inventor.generator) ?? "a"
                switch action {
                case 0..<5:
                    let fields = TransformFields(
                        positionX: inventor.maybe(-9...9), rotation: inventor.maybe(0...360),
                        scaleY: inventor.maybe(0.1...2))
                    let outcome = queue.append(transform: fields, of: id)
                    if outcome == .appended || outcome == .folded { expected.transform(id, fields) }
                case 5: if queue.append("reset", elementIds: [id]) == .appended { expected.reset(id) }
                case 6, 7:
                    guard let commit = queue.next(), inventor.chance(70) else { return }
                    // The server refuses a number that does not follow, and answers a repeated one as before.
                    guard commit.n <= applied + 1 else { return }
                    if commit.n == applied + 1 { server.apply(commit.change) }
                    applied = max(applied, commit.n)
                    if inventor.chance(70) { answers.append(commit.n) }
                case 8: if !answers.isEmpty { queue.settle(answers.removeFirst()) }
                default:
                    answers = []
                    queue.resend()
                }
                #expect(queue.count <= 8, "seed \(seed)")
            }
            for _ in 0..<100 { step(Int.random(in: 0..<10, using: &inventor.generator)) }
            queue.resend()
            while let commit = queue.next() {
                if commit.n == applied + 1 { server.apply(commit.change) }
                applied = max(applied, commit.n)
                queue.settle(commit.n)
            }
            #expect(queue.isEmpty, "seed \(seed)")
            #expect(server == expected, "seed \(seed)")
        }
    }
}

/// What transforms and resets add up to, element by element.
private struct Board: Equatable {
    var elements: [String: TransformFields] = [:]

    mutating func transform(_ id: String, _ fields: TransformFields) {
        self.elements[id, default: TransformFields()].merge(fields)
    }

    mutating func reset(_ id: String) { self.elements[id] = TransformFields() }

    mutating func apply(_ change: OfflineQueue<String>.Change) {
        switch change {
        case .transform(let id, let fields): self.transform(id, fields)
        case .edit(_, let ids): for id in ids { self.reset(id) }
        }
    }
}
