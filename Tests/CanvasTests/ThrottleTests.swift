import Canvas
import Testing

@Suite struct ThrottleTests {
    @Test func theFinalValueGoesOutImmediatelyAndNothingOlderFollows() {
        var throttle = Throttle<Int>(interval: 16)
        #expect(throttle.offer(1, at: 0) == 1)
        #expect(throttle.offer(2, at: 5) == nil)
        #expect(throttle.finish(with: 3, at: 6) == 3)
        #expect(throttle.deadline == nil)
        #expect(throttle.due(at: 100) == nil)
    }

    @Test func afterTheFinalValueTheNextWaitsAnInterval() {
        var throttle = Throttle<Int>(interval: 16)
        #expect(throttle.finish(with: 1, at: 0) == 1)
        #expect(throttle.offer(2, at: 15) == nil)
        #expect(throttle.deadline == 16)
        #expect(throttle.due(at: 16) == 2)
    }

    @Test func aNegativeIntervalIsNone() {
        var throttle = Throttle<Int>(interval: -5)
        for value in 0..<3 { #expect(throttle.offer(value, at: .min) == value) }
    }

    @Test(arguments: [191, 192] as [UInt64])
    func valuesAreAnIntervalApartInOrderAndTheLastIsAlwaysSent(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<200 {
            let interval = Int64.random(in: 1...40, using: &inventor.generator)
            var throttle = Throttle<Int>(interval: interval)
            var sent: [(value: Int, at: Int64)] = []
            var now: Int64 = 0
            for value in 0..<50 {
                now += Int64.random(in: 0...30, using: &inventor.generator)
                if let deadline = throttle.deadline, deadline <= now, let due = throttle.due(at: deadline) {
                    sent.append((due, deadline))
                }
                if let out = throttle.offer(value, at: now) { sent.append((out, now)) }
            }
            if let deadline = throttle.deadline, let due = throttle.due(at: deadline) { sent.append((due, deadline)) }
            #expect(sent.first?.value == 0 && sent.last?.value == 49, "seed \(seed)")
            for (earlier, later) in zip(sent, sent.dropFirst()) {
                #expect(earlier.value < later.value && later.at - earlier.at >= interval, "seed \(seed): \(sent)")
            }
        }
    }
}
