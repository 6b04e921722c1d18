/// Schedules senders: each once a period, at its own phase, with absolute deadlines that do not drift. Phases follow the golden ratio, so that neighbours (the senders of one room) are far apart and any number of senders
/// fills the period evenly. Pure; times are nanoseconds of one clock.
struct SendSchedule: Sendable {
    /// Offsets in the period with the senders, sorted by offset.
    private let slots: [(offset: Int64, sender: Int)]
    private let period: Int64
    private let start: Int64
    private var cycle: Int64 = 0
    private var position = 0

    /// - Parameters:
    ///   - senders: each with its number; those of one room consecutive.
    ///   - period: nanoseconds between two sends of one sender.
    ///   - start: when the first period begins.
    init(_ senders: [(number: Int, sender: Int)] = [], period: Int64 = 1, start: Int64 = 0) {
        let period = max(1, period)
        self.slots = senders.map { number, sender in
            // The fractional part of number / golden ratio, as 64 bits of fraction.
            let fraction = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
            return (Int64(truncatingIfNeeded: fraction.multipliedFullWidth(by: UInt64(period)).high), sender)
        }.sorted { $0.offset < $1.offset }
        self.period = period
        self.start = start
    }

    /// When the next sender is due; the end of time without senders.
    var nextDeadline: Int64 {
        guard self.position < self.slots.count else { return .max }
        return self.start &+ self.cycle &* self.period &+ self.slots[self.position].offset
    }

    /// Removes and returns the next due sender.
    mutating func next(at now: Int64) -> (sender: Int, deadline: Int64)? {
        let deadline = self.nextDeadline
        guard self.position < self.slots.count, deadline <= now else { return nil }
        let sender = self.slots[self.position].sender
        self.position += 1
        if self.position == self.slots.count {
            self.position = 0
            self.cycle += 1
        }
        return (sender, deadline)
    }

    /// Skips sends that are overdue by more than `patience`, in whole periods.
    /// - Returns: the number of skipped sends.
    mutating func skip(olderThan patience: Int64, at now: Int64) -> Int {
        let overdue = now &- self.nextDeadline
        guard !self.slots.isEmpty, overdue > patience else { return 0 }
        let cycles = overdue / self.period
        self.cycle += cycles
        return Int(clamping: cycles) * self.slots.count
    }
}
