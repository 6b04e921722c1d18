import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

/// Rooms of two publishers whose previews come in envelopes, as gateways send them while much comes.
private struct Envelopes {
    /// How long each preview was held, ms, and how often a room flushed, after a second.
    private(set) var waits: [Double] = []
    private(set) var flushes = 0
    /// How many flushes were an answer to an envelope, from the start.
    private(set) var atOnce: UInt64 = 0
    private var heldSince: [UInt64: Double] = [:]

    /// - Parameters:
    ///   - period: ms between two previews of one publisher.
    ///   - gap: ms between the two publishers of a room.
    ///   - pause: ms between two envelopes, more or less by a tenth.
    init(period: Double, gap: Double, pause: Double) {
        var coalescer = Coalescer()
        // Rooms begin at different places in the period.
        var nextSend = (0..<40).map { (publisher: Int) -> Double in
            let start: Double = Double(publisher / 2) * 0.618 * period
            return start.truncatingRemainder(dividingBy: period) + (publisher % 2 == 0 ? 0 : gap)
        }
        var random = SplitMix64(seed: 7)
        var time = 0.0
        while time < 5000 {
            time += pause * Double.random(in: 0.9...1.1, using: &random)
            var output: [Preview] = []
            while let deadline = coalescer.nextDeadline, deadline <= ms(time) {
                coalescer.timeReached(deadline, into: &output)
                self.left(&output, at: Double(deadline.nanoseconds) / 1e6)
            }
            for publisher in nextSend.indices where nextSend[publisher] <= time {
                nextSend[publisher] += period
                self.heldSince[UInt64(publisher)] = time
                _ = coalescer.previewReceived(
                    preview(room: Identifier("r\(publisher / 2)"), by: UInt64(publisher)), at: ms(time), into: &output)
            }
            self.left(&output, at: time)
        }
        self.atOnce = coalescer.counters.sentAtOnce
    }

    private mutating func left(_ output: inout [Preview], at time: Double) {
        if time > 1000 {
            self.flushes += Set(output.map(\.room)).count
            self.waits += output.map { time - (self.heldSince[$0.connection] ?? time) }
        }
        output.removeAll()
    }
}

@Suite struct RoundTests {
    /// However envelopes fall, rooms find the order in which waiting is short, and flush once for each round.
    @Test(arguments: [1000 / 60.0, 1000 / 30.0], [2.0, 6.4, 8.3, 10.3])
    func twoPublishersWaitForTheNarrowGap(period: Double, gap: Double) {
        for pause in [3.3, 4, 4.3, 6.3] {
            let run = Envelopes(period: period, gap: gap, pause: pause)
            let narrow = min(gap, period - gap)
            let mean = run.waits.reduce(0, +) / Double(run.waits.count)
            // One of two waits for the gap; the half ms is for the beginning and for envelopes that split a pair.
            #expect(mean < narrow / 2 + 0.5, "\(pause)")
            #expect(run.waits.allSatisfy { $0 <= 17 })
            let rounds = 20 * 4000 / period
            #expect(Double(run.flushes) < rounds * 1.06, "\(pause)")
            #expect(Double(run.atOnce) > rounds, "\(pause)")
        }
    }
}
