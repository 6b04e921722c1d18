import Testing
import Timing

/// Which deadline of a queue is the next one, and what comes due.
@Suite struct DeadlineQueueTests {
    private static let milestones = (1...4).map { Instant.start + Nanoseconds.milliseconds($0) }

    @Test func anEmptyQueueHasNoDeadline() {
        var queue = DeadlineQueue<String>()
        #expect(queue.next == .never && queue.popDue(at: .never) == nil)
    }

    @Test func itemsComeDueInTheOrderOfTheirDeadlines() {
        var queue = DeadlineQueue<String>()
        queue.set("a", at: Self.milestones[0])
        queue.set("b", at: Self.milestones[2])
        #expect(queue.next == Self.milestones[0])
        #expect(queue.popDue(at: Self.milestones[1]) == "a")
        #expect(queue.next == Self.milestones[2] && queue.popDue(at: Self.milestones[1]) == nil)
        #expect(queue.popDue(at: Self.milestones[2]) == "b")
        #expect(queue.next == .never)
    }

    @Test func anEarlierDeadlineThanTheLastIsMovedThere() {
        var queue = DeadlineQueue<String>()
        queue.set("a", at: Self.milestones[2])
        queue.set("b", at: Self.milestones[0])
        #expect(queue.next == Self.milestones[2] && queue.popDue(at: Self.milestones[1]) == nil)
        #expect(queue.popDue(at: Self.milestones[2]) == "a" && queue.next == Self.milestones[2])
        #expect(queue.popDue(at: Self.milestones[3]) == "b")
    }
}
