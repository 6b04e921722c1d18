import CoalescerCore
import Timing
import Wire

/// A preview of a key that has not used up its rate: it leaves at once.
struct PassPreview: Operation {
    static let name = "coalesce-lone-preview"

    private var coalescer = Coalescer()
    private var output: [Preview] = []
    private var now = Instant(nanoseconds: 1_000_000_000)

    init() {}

    mutating func turn() -> Bool {
        self.now += Nanoseconds(16_666_667)
        let outcome = self.coalescer.previewReceived(Sample.preview, at: self.now, into: &self.output)
        defer { self.output.removeAll(keepingCapacity: true) }
        return outcome == .sent && self.output.count == 1
    }
}

/// One of four previews of a tick: two publishers at 120 Hz, whose previews fold.
struct FoldPreview: Operation {
    static let name = "coalesce-folded-preview"
    static let perTurn = 4

    private var coalescer = Coalescer()
    private var output: [Preview] = []
    private var now = Instant(nanoseconds: 1_000_000_000)
    private let previews = (0..<2).map { publisher in
        var preview = Sample.preview
        preview.element = Sample.varied(preview.element, publisher)
        preview.connection += UInt64(publisher)
        return preview
    }

    init() {
        // The keys use up their credit.
        for _ in 0..<4 { _ = self.turn() }
    }

    mutating func turn() -> Bool {
        let before = self.coalescer.counters.sent
        for _ in 0..<2 {
            self.now += .milliseconds(8)
            self.coalescer.timeReached(self.now, into: &self.output)
            for preview in self.previews {
                _ = self.coalescer.previewReceived(preview, at: self.now, into: &self.output)
            }
        }
        self.output.removeAll(keepingCapacity: true)
        return self.coalescer.counters.sent - before == 2
    }
}
