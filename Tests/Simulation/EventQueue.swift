/// What will happen in a world, by time; what falls on the same time happens in the order in which it was added.
struct EventQueue {
    private struct Event {
        let time: UInt64
        let order: UInt64
        let run: () -> Void

        func isBefore(_ other: Event) -> Bool {
            self.time != other.time ? self.time < other.time : self.order < other.order
        }
    }

    /// A binary heap: nobody comes before its parent.
    private var heap: [Event] = []
    private var added: UInt64 = 0

    var isEmpty: Bool { self.heap.isEmpty }

    mutating func add(at time: UInt64, _ run: @escaping () -> Void) {
        self.added += 1
        self.heap.append(Event(time: time, order: self.added, run: run))
        var place = self.heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard self.heap[place].isBefore(self.heap[parent]) else { return }
            self.heap.swapAt(place, parent)
            place = parent
        }
    }

    mutating func takeNext() -> (time: UInt64, run: () -> Void)? {
        guard let first = self.heap.first, let last = self.heap.popLast() else { return nil }
        if !self.heap.isEmpty {
            self.heap[0] = last
            self.sink()
        }
        return (first.time, first.run)
    }

    private mutating func sink() {
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < self.heap.count else { return }
            if child + 1 < self.heap.count, self.heap[child + 1].isBefore(self.heap[child]) { child += 1 }
            guard self.heap[child].isBefore(self.heap[place]) else { return }
            self.heap.swapAt(place, child)
            place = child
        }
    }
}
