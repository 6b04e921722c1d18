import Stages
import Testing

@Suite struct ActionBufferTests {
    private var buffer = ActionBuffer<Int>()

    @Test mutating func whatIsTakenIsDoneOnceAndInOrder() {
        #expect(self.buffer.take() == nil)
        self.buffer.pending += [1, 2]
        #expect(self.buffer.take() == [1, 2])
        #expect(self.buffer.take() == nil)
    }

    @Test mutating func whatIsAddedMeanwhileComesNext() {
        self.buffer.pending = [1]
        let first = self.buffer.take() ?? []
        self.buffer.pending.append(2)
        self.buffer.giveBack(first)
        #expect(self.buffer.take() == [2])
    }

    @Test mutating func storageServesAgainUnlessItIsLarge() {
        self.buffer.pending.reserveCapacity(500)
        self.buffer.pending.append(1)
        self.buffer.giveBack(self.buffer.take() ?? [])
        self.buffer.pending.append(2)
        self.buffer.giveBack(self.buffer.take() ?? [])
        #expect(self.buffer.pending.capacity >= 500)
        self.buffer.pending = Array(repeating: 3, count: 5000)
        self.buffer.giveBack(self.buffer.take() ?? [])
        self.buffer.pending.append(4)
        _ = self.buffer.take()
        #expect(self.buffer.pending.capacity == 0)
    }
}
