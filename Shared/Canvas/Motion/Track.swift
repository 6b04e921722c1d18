/// How one field of an element moves to where it is stored.
public struct Track: Equatable, Sendable {
    /// When it starts, ms since 1970 of the server's clock.
    public var startedAt: Double
    /// One after another.
    public var segments: [Segment]

    /// A start further ahead counts as long over, ms: the clock that told it was wrong.
    public static let furthestAhead = 60_000.0

    public init(startedAt: Double, segments: [Segment]) {
        self.startedAt = startedAt
        self.segments = segments
    }

    /// When it is over, ms since 1970.
    public var endsAt: Double { self.segments.reduce(self.startedAt) { $0 + $1.ms } }

    /// The value at a time, before the start that at the start; nil when it is over: then the stored value shows.
    public func value(at time: Double) -> Double? {
        self.running(at: time).map { segment, elapsed in segment.value(after: elapsed) }
    }

    /// Its velocity at a time, units a second, if a spring or a decay moves it; else 0.
    public func velocity(at time: Double) -> Double {
        self.running(at: time).map { segment, elapsed in segment.velocity(after: elapsed) } ?? 0
    }

    /// The segment of a time and how long it has lasted then.
    func running(at time: Double) -> (segment: Segment, elapsed: Double)? {
        guard var elapsed = elapsedTime(since: self.startedAt, at: time) else { return nil }
        for segment in self.segments {
            if elapsed < segment.ms { return (segment, elapsed) }
            elapsed -= segment.ms
        }
        return nil
    }
}

/// How long something runs that started at some time, ms, 0 before; nil if that counts as long over.
func elapsedTime(since startedAt: Double, at time: Double) -> Double? {
    startedAt - time <= Track.furthestAhead ? max(0, time - startedAt) : nil
}
