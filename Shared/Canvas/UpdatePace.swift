/// The measured time between the updates of one mover, ms: how long a movement to the latest one may last so that it
/// ends when the next one arrives.
public struct UpdatePace: Equatable, Sendable {
    /// The estimates stay within these bounds, ms.
    public static let range = 8.0...250.0

    /// The current estimate, ms.
    public private(set) var interval: Double
    private var isMeasured = false

    /// An estimate to start with, clamped to `range`; 33 ms if it is not finite.
    public init(initial: Double = 33) {
        self.interval = initial.isFinite ? clamped(initial, Self.range.lowerBound, Self.range.upperBound) : 33
    }

    /// Accounts for the time since the previous update, ms: the `dt` of a preview, or the time between two arrivals. Of
    /// several measurements the recent ones count most. Longer gaps than `range` are pauses and say nothing about the
    /// pace; neither do 0, the first preview's `dt`, and numbers that are not finite.
    public mutating func measure(_ gap: Double) {
        guard gap > 0, gap <= Self.range.upperBound else { return }
        let usable = max(gap, Self.range.lowerBound)
        self.interval = self.isMeasured ? self.interval + (usable - self.interval) / 4 : usable
        self.isMeasured = true
    }
}
