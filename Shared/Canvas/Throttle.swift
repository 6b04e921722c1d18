/// Paces a stream of values, latest wins: the first goes out at once, later ones at most one an interval, and the last
/// one always goes out.
///
///      idle ──offer: out──► pacing ──offer: kept──► holding
///       ▲                     │                       │
///       └───────due: nothing──┘◄───────due: out───────┘
///
/// Time is a parameter, in any unit the caller likes as long as it does not run backwards. It holds at most one value.
public struct Throttle<Value: Sendable>: Sendable {
    /// Shortest time between two values.
    public var interval: Int64
    private var nextSlot: Int64?
    private var held: Value?

    /// A throttle that has seen nothing yet.
    public init(interval: Int64) {
        self.interval = interval
    }

    /// When to call `due(at:)`; nil while nothing is held.
    public var deadline: Int64? { self.held == nil ? nil : self.nextSlot }

    /// Takes a value; gives it back when it may go out now, else keeps it in place of the one held.
    public mutating func offer(_ value: Value, at now: Int64) -> Value? {
        if let slot = self.nextSlot, now < slot {
            self.held = value
            return nil
        }
        self.held = nil
        self.nextSlot = self.slot(after: now)
        return value
    }

    /// The held value once its time has come.
    public mutating func due(at now: Int64) -> Value? {
        guard let slot = self.nextSlot, now >= slot, let value = self.held else { return nil }
        self.held = nil
        self.nextSlot = self.slot(after: now)
        return value
    }

    /// The held value whatever the time is: the finger was lifted.
    public mutating func flush() -> Value? {
        defer { self.held = nil }
        return self.held
    }

    private func slot(after now: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(self.interval)
        return overflow ? .max : sum
    }
}
