import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

/// A model of apps that move elements, and of a loop that wakes up late now and then.
private struct Walk {
    struct Key: Hashable {
        var room: Identifier
        var element: Identifier
        var connection: UInt64

        init(room: Identifier, element: Identifier, connection: UInt64) {
            (self.room, self.element, self.connection) = (room, element, connection)
        }

        init(_ preview: Preview) {
            self.init(room: preview.room, element: preview.element, connection: preview.connection)
        }
    }
    struct Sending {
        var at: Instant
        var preview: Preview
    }

    var random: SplitMix64
    var coalescer: Coalescer
    var now = Instant.start
    var gestures: [Key: UInt64] = [:]
    var closed: [Key: UInt64] = [:]
    /// The fields that an observer who applies previews in order must end with, by gesture.
    var truth: [Key: (gesture: UInt64, fields: TransformFields)] = [:]
    var seen: [Key: (gesture: UInt64, fields: TransformFields)] = [:]
    /// How many previews came since the last one was sent or cancelled.
    var unseen: [Key: UInt32] = [:]
    var sendings: [Key: [Sending]] = [:]
    var faults: [String] = []

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
        self.coalescer = Coalescer()
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            self.pass()
            let key = Key(
                room: self.pick(["r1", "r2", "r3"]), element: self.pick(["a", "b"]),
                connection: UInt64.random(in: 1...3, using: &self.random))
            if Int.random(in: 0..<50, using: &self.random) == 0 { self.changeWindow() }
            switch Int.random(in: 0..<20, using: &self.random) {
            case 0: self.commit(key)
            case 1:
                self.gestures[key, default: 1] += 1
                self.move(key, gesture: self.gestures[key, default: 1])
            case 2:
                self.move(
                    key, gesture: UInt64.random(in: 1...max(1, self.gestures[key, default: 1]), using: &self.random))
            default: self.move(key, gesture: self.gestures[key, default: 1])
            }
        }
        // The trailing edge: one tick later everything is out.
        self.now += tick
        self.wake()
    }

    private mutating func changeWindow() {
        self.coalescer.gather(
            [.zero, .milliseconds(1), .milliseconds(5), tick].randomElement(using: &self.random) ?? .zero)
    }

    private mutating func pick(_ choices: [Identifier]) -> Identifier {
        choices.randomElement(using: &self.random) ?? "r1"
    }

    /// Time passes; the loop wakes at its deadline, or up to 40 ms late.
    private mutating func pass() {
        let next = self.now + Nanoseconds(UInt64.random(in: 0...3_000_000, using: &self.random))
        if let deadline = self.coalescer.nextDeadline, deadline <= next {
            let isLate = Int.random(in: 0..<10, using: &self.random) == 0
            self.now = max(self.now, deadline)
            if isLate { self.now += Nanoseconds(UInt64.random(in: 0...40_000_000, using: &self.random)) }
            if !isLate || Bool.random(using: &self.random) { self.wake() }
        }
        self.now = max(self.now, next)
    }

    private mutating func wake() {
        var output: [Preview] = []
        self.coalescer.timeReached(self.now, into: &output)
        self.check(output[...])
    }

    private mutating func move(_ key: Key, gesture: UInt64) {
        var fields = TransformFields()
        // Each gesture's values are its own, so that a mixture shows.
        let value = Double(gesture * 1_000_000 + UInt64.random(in: 0..<1_000_000, using: &self.random))
        if Bool.random(using: &self.random) { fields.positionX = value }
        if Bool.random(using: &self.random) { fields.positionY = value }
        if Bool.random(using: &self.random) { fields.rotation = value }
        var preview = preview(key.element, room: key.room, by: key.connection, gesture: gesture)
        preview.fields = fields
        var output: [Preview] = []
        let outcome = self.coalescer.previewReceived(preview, at: self.now, into: &output)
        // What was due left before the new preview came.
        let own = outcome == .sent ? output.lastIndex { Key($0) == key } : nil
        self.check(output[..<(own ?? output.endIndex)])
        let isOld = gesture <= self.closed[key, default: 0] || gesture < (self.truth[key]?.gesture ?? 0)
        if (outcome == .stale) != isOld { self.faults.append("stale: \(outcome), \(key), gesture \(gesture)") }
        if !isOld {
            if self.truth[key]?.gesture != gesture { self.truth[key] = (gesture, TransformFields()) }
            self.truth[key]?.fields.overlay(fields)
            self.unseen[key, default: 0] += 1
        }
        if let own { self.check(output[own...]) }
    }

    private mutating func commit(_ key: Key) {
        let gesture = self.gestures[key, default: 1]
        let outcome = self.coalescer.commitReceived(
            CoalescerTests.commit(key.element, room: key.room, by: key.connection, gesture: gesture), at: self.now)
        if outcome == .cancelled { self.unseen[key] = 0 }
        self.closed[key] = max(gesture, self.closed[key, default: 0])
        if Bool.random(using: &self.random) { self.gestures[key] = gesture + 1 }
    }

    private mutating func check(_ output: ArraySlice<Preview>) {
        for preview in output {
            let key = Key(preview)
            if preview.gesture <= self.closed[key, default: 0] { self.faults.append("after its commit: \(preview)") }
            if preview.gesture < (self.seen[key]?.gesture ?? 0) { self.faults.append("older gesture: \(preview)") }
            for value in [preview.fields.positionX, preview.fields.positionY, preview.fields.rotation] {
                if let value, UInt64(value) / 1_000_000 != preview.gesture { self.faults.append("mixed: \(preview)") }
            }
            if self.seen[key]?.gesture != preview.gesture {
                self.seen[key] = (preview.gesture, TransformFields())
            }
            self.seen[key]?.fields.overlay(preview.fields)
            if self.unseen.updateValue(0, forKey: key) != preview.folded { self.faults.append("count: \(preview)") }
            // 0 says "the first".
            if (preview.sinceLast == 0) != (self.sendings[key] == nil) { self.faults.append("since last: \(preview)") }
            self.sendings[key, default: []].append(Sending(at: self.now, preview: preview))
        }
    }
}

extension TransformFields {
    fileprivate mutating func overlay(_ newer: TransformFields) {
        if let value = newer.positionX { self.positionX = value }
        if let value = newer.positionY { self.positionY = value }
        if let value = newer.rotation { self.rotation = value }
    }
}

@Suite struct RandomWalkTests {
    @Test(arguments: [UInt64](1...40))
    func promisesHold(seed: UInt64) {
        var walk = Walk(seed: seed)
        walk.run(steps: 3000)
        #expect(walk.faults.isEmpty, "seed \(seed): \(walk.faults.prefix(3))")

        // The last value of every gesture that no commit ended is what an observer sees.
        var open = 0
        for (key, truth) in walk.truth where truth.gesture > walk.closed[key, default: 0] {
            open += 1
            #expect(walk.seen[key]?.fields == truth.fields, "seed \(seed): \(key)")
        }
        #expect(open > 0, "seed \(seed)")
        #expect(walk.unseen.values.allSatisfy { $0 == 0 }, "seed \(seed)")
        #expect(walk.coalescer.heldCount == 0)
        #expect(walk.coalescer.nextDeadline == nil)
        let counters = walk.coalescer.counters
        #expect(
            counters.received
                == counters.sent + counters.folded + counters.replaced + counters.cancelled + counters.stale)
        #expect(counters.cancelled > 0 && counters.stale > 0 && counters.replaced > 0 && counters.sentAtOnce > 0)
    }

    @Test(arguments: [UInt64](1...40))
    func theRateIsBoundedOverEveryWindow(seed: UInt64) {
        var walk = Walk(seed: seed)
        walk.run(steps: 3000)
        var windows = 0
        for (key, sendings) in walk.sendings {
            let times = sendings.map(\.at)
            for first in times.indices {
                for last in first..<min(times.count, first + 30) {
                    windows += 1
                    let count = UInt64(last - first + 1)
                    let allowed = times[last].elapsed(since: times[first]).count / tick.count + 2
                    #expect(count <= allowed, "seed \(seed): \(key) \(times[first])...\(times[last])")
                }
            }
        }
        #expect(windows > 1000, "seed \(seed)")
    }

    /// An app knows only what it is told: the times since the previous preview, whole milliseconds.
    @Test(arguments: [UInt64](1...40))
    func sumsOfTheTimeSinceTheLastAreTrueAndKeepToTheRate(seed: UInt64) {
        var walk = Walk(seed: seed)
        walk.run(steps: 3000)
        var windows = 0
        var faults: [String] = []
        for (key, sendings) in walk.sendings {
            for first in sendings.indices {
                var told = 0.0
                for last in (first + 1)..<max(first + 1, min(sendings.count, first + 100)) {
                    told += Double(sendings[last].preview.sinceLast)
                    // A preview that leaves together with another one is said to be a millisecond behind it.
                    let ends = [sendings[first].preview.sinceLast, sendings[last].preview.sinceLast]
                    let error = ends.contains(1) ? 2.0 : 1
                    let passed = sendings[last].at.elapsed(since: sendings[first].at).seconds * 1000
                    let isTrue = abs(told - passed) <= error
                    let isInTheRate = Double(last - first + 1) <= (told + 1) / 16 + 2
                    if !isTrue || !isInTheRate { faults.append("\(key): \(passed) ms, told \(told)") }
                    windows += 1
                }
            }
        }
        #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(3))")
        #expect(windows > 1000, "seed \(seed)")
    }
}
