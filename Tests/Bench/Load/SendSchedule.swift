/// Schedules senders: each once a period, at its own phase, with absolute deadlines that do not drift.
///
/// Phases follow the golden ratio, so that neighbours (the senders of one room) are far apart and any number of senders
/// fills the period evenly. Pure; times are nanoseconds of one clock.
package struct SendSchedule: Sendable {
    /// Offsets in the period with the senders' indices in the given list, sorted by offset.
    private let slots: [(offset: Int64, index: Int)]
    private let period: Int64
    private let start: Int64
    private var cycle: Int64 = 0
    private var position = 0

    /// - Parameters:
    ///   - numbers: the senders' numbers, unique among interleaved schedules; those of one room consecutive.
    ///   - period: nanoseconds between two sends of one sender, at least 1.
    ///   - start: when the first period begins.
    package init(numbers: [Int], period: Int64, start: Int64) {
        let period = max(1, period)
        self.slots = numbers.enumerated().map { (Self.offset(of: $1, period: period), $0) }
            .sorted { $0.offset < $1.offset }
        self.period = period
        self.start = start
    }

    static func offset(of sender: Int, period: Int64) -> Int64 {
        // The fractional part of sender / golden ratio, as 64 bits of fraction.
        let fraction = UInt64(truncatingIfNeeded: sender) &* 0x9E37_79B9_7F4A_7C15
        return Int64(truncatingIfNeeded: fraction.multipliedFullWidth(by: UInt64(period)).high)
    }

    /// When the next sender is due; nil without senders.
    package var nextDeadline: Int64? {
        guard self.position < self.slots.count else { return nil }
        return self.start &+ self.cycle &* self.period &+ self.slots[self.position].offset
    }

    /// Removes and returns the next due sender; `index` is its position in the list of numbers.
    package mutating func next(at now: Int64) -> (index: Int, deadline: Int64)? {
        guard let deadline = self.nextDeadline, deadline <= now else { return nil }
        let index = self.slots[self.position].index
        self.position += 1
        if self.position == self.slots.count {
            self.position = 0
            self.cycle += 1
        }
        return (index, deadline)
    }

    /// Skips sends that are overdue by more than `patience`, in whole periods.
    /// - Returns: the number of skipped sends.
    package mutating func skip(olderThan patience: Int64, at now: Int64) -> Int {
        guard let deadline = self.nextDeadline, now - deadline > patience else { return 0 }
        let cycles = (now - deadline) / self.period
        self.cycle += cycles
        return Int(clamping: cycles) * self.slots.count
    }
}
