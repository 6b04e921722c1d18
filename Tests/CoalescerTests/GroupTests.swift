import Canvas
import CoalescerCore
import Testing
import Timing
import Wire

/// The previews of a group come together and at one rate: so they leave together.
@Suite struct GroupTests {
    private var coalescer = Coalescer()

    /// What leaves when the previews of a group arrive, all at one moment.
    private mutating func group(
        _ elements: [Identifier], by connection: UInt64 = 1, gesture: UInt64 = 1, x: Double, at now: Instant
    ) -> [Preview] {
        var output: [Preview] = []
        for element in elements {
            var shown = preview(element, by: connection, gesture: gesture, x: x)
            shown.group = element == elements.last ? .last : .member
            self.coalescer.previewReceived(shown, at: now, into: &output)
        }
        return output
    }

    @Test mutating func aLoneGroupLeavesAsItArrives() {
        for step in 0..<10 {
            let left = self.group(["a", "b", "c"], x: Double(step), at: ms(Double(step) * 16.7))
            #expect(left.map(\.element) == ["a", "b", "c"] && left.allSatisfy { $0.fields.positionX == Double(step) })
        }
        #expect(self.coalescer.heldCount == 0 && self.coalescer.nextDeadline == nil)
    }

    @Test mutating func overTheRateItIsFoldedAsAWhole() {
        for step in 0..<5 { _ = self.group(["a", "b", "c"], x: Double(step), at: ms(Double(step))) }
        let left = self.coalescer.leaving(at: ms(40))
        #expect(left.map(\.element) == ["a", "b", "c"] && left.allSatisfy { $0.fields.positionX == 4 })
        #expect(Set(left.map(\.folded)).count == 1)
    }

    @Test mutating func anEndCancelsItsElement() {
        _ = self.group(["a", "b", "c"], x: 0, at: ms(0))
        _ = self.group(["a", "b", "c"], x: 1, at: ms(1))
        _ = self.group(["a", "b", "c"], x: 2, at: ms(2))
        #expect(self.coalescer.heldCount == 3)
        self.coalescer.gestureEnded(end("a"))
        self.coalescer.gestureEnded(end("c"))
        #expect(self.coalescer.leaving(at: ms(40)).map(\.element) == ["b"])
        #expect(self.coalescer.heldCount == 0)
    }
}
