/// Paces a stream of values, latest wins: the first is sent immediately, later ones at most once an interval, and the
/// last one is always sent.
///
///      idle ──offer: out──► pacing ──offer: kept──► holding
///       ▲                     │                       │
///       └───────due: nothing──┘◄───────due: out───────┘
///
/// Time is a parameter, in any unit, and must not run backwards. At most one value is pending.
///
///     var throttle = Throttle<TransformFields>(interval: 16)   // one for each element; `room:throttle` sets the interval
///     if let preview = throttle.offer(fields, at: now) { send(preview) }
///     if let preview = throttle.due(at: now) { send(preview) }  // by a timer at `deadline`
///     send(throttle.finish(with: fields, at: now))              // the finger was lifted
public struct Throttle<Value: Sendable>: Sendable {
    /// The minimum time between two values; a negative one counts as 0.
    public var interval: Int64
    private var nextSlot: Int64?
    private var held: Value?

    public init(interval: Int64) {
        self.interval = interval
    }

    /// When to call `due(at:)`; nil while nothing is pending.
    public var deadline: Int64? { self.held == nil ? nil : self.nextSlot }

    /// Offers a value; returns it when it may be sent now, otherwise it replaces the pending one.
    public mutating func offer(_ value: Value, at now: Int64) -> Value? {
        if let slot = self.nextSlot, now < slot {
            self.held = value
            return nil
        }
        self.held = nil
        self.nextSlot = self.slot(after: now)
        return value
    }

    /// Returns the pending value once it is due.
    public mutating func due(at now: Int64) -> Value? {
        guard let slot = self.nextSlot, now >= slot, let value = self.held else { return nil }
        self.held = nil
        self.nextSlot = self.slot(after: now)
        return value
    }

    /// The final value is sent immediately, whatever the interval, and replaces the pending one, so that nothing older
    /// follows it. The next value waits an interval.
    public mutating func finish(with value: Value, at now: Int64) -> Value {
        self.held = nil
        self.nextSlot = self.slot(after: now)
        return value
    }

    private func slot(after now: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(max(0, self.interval))
        return overflow ? .max : sum
    }
}
