/// Draws an element that somebody else moves: each update starts a movement from what is drawn at that moment to what
/// arrived, angles by the shortest rotation, over the measured time between updates. So the element moves at every
/// frame although updates arrive less often.
///
/// Time is a parameter: milliseconds of any clock that does not run backwards.
///
///     guard var motion = RemoteMotion(from: element.pose, style: .spring) else { return }
///     motion.receive(preview.pose, at: now, gap: preview.dt)   // element:transforming
///     motion.receive(update.pose, at: now)                     // element:transformed: ends there
///     shown.pose = motion.pose(at: frameTime)                  // at each frame
public struct RemoteMotion: Equatable, Sendable {
    /// How it moves between updates.
    public enum Style: Equatable, Sendable {
        /// At a constant speed: arrives at the latest update after the measured interval.
        case linear
        /// Like a critically damped spring: keeps its speed from one update to the next, does not overshoot from rest, and
        /// has made nine tenths of its way after the measured interval.
        case spring
    }

    /// How it moves.
    public let style: Style
    /// The pose of the latest update.
    public private(set) var target: Pose
    /// The time between updates.
    public private(set) var pace: UpdatePace
    /// The time of the latest update, ms; nil before the first.
    private var startTime: Double?
    /// What was drawn then, relative to the target, and how fast it changed, per ms.
    private var displacement = PoseDifference.zero
    private var velocity = PoseDifference.zero
    /// The interval when the movement began: it does not change on its way.
    private var interval: Double

    /// An element at rest; nil unless the pose's numbers are finite. They are clamped to ±`CanvasLimits.reach`.
    public init?(from pose: Pose, style: Style = .linear, pace: UpdatePace = UpdatePace()) {
        guard pose.isFinite else { return nil }
        self.style = style
        self.target = pose.withinReach
        self.pace = pace
        self.interval = pace.interval
    }

    /// Starts a movement to the pose of an update. Refuses, and returns false, when a number of a pose or the time is not
    /// finite. Numbers are clamped to ±`CanvasLimits.reach`.
    /// - Parameters:
    ///   - gap: the time since the previous update, ms; without it the time since the previous call counts.
    ///   - drawn: what is drawn at that moment, if it is not `pose(at: now)`.
    @discardableResult
    public mutating func receive(_ pose: Pose, at now: Double, gap: Double? = nil, from drawn: Pose? = nil) -> Bool {
        guard pose.isFinite, now.isFinite, drawn?.isFinite ?? true else { return false }
        let now = max(now, self.startTime ?? now)
        if let gap = gap ?? self.startTime.map({ now - $0 }) { self.pace.measure(gap) }
        let (shown, velocity) = self.state(at: now, target: self.target)
        self.target = pose.withinReach
        self.displacement = PoseDifference(from: self.target, to: drawn?.withinReach ?? shown)
        self.velocity = velocity
        self.startTime = now
        self.interval = self.pace.interval
        return true
    }

    /// Shows a pose immediately, without a movement: after a join, or when the app was in the background. Refuses, and
    /// returns false, when a number is not finite.
    @discardableResult
    public mutating func jump(to pose: Pose, at now: Double) -> Bool {
        guard pose.isFinite, now.isFinite else { return false }
        self.target = pose.withinReach
        (self.displacement, self.velocity) = (.zero, .zero)
        self.startTime = max(now, self.startTime ?? now)
        return true
    }

    /// What to draw at a time, which should not be before the latest update's; with another target if that moves by
    /// itself.
    public func pose(at now: Double, towards target: Pose? = nil) -> Pose {
        self.state(at: now, target: target ?? self.target).pose
    }

    /// Whether nothing moves any more, so that the app needs no further frames.
    public func isAtRest(at now: Double) -> Bool { self.pose(at: now) == self.target }

    private func state(at now: Double, target: Pose) -> (pose: Pose, velocity: PoseDifference) {
        guard let startTime = self.startTime, now > startTime else {
            return (target.moved(by: self.displacement), self.velocity)
        }
        let progress = (now - startTime) / self.interval
        let (left, velocity) =
            switch self.style {
            case .linear: self.linear(progress)
            case .spring: self.spring(progress)
            }
        return (left == .zero ? target : target.moved(by: left), velocity)
    }

    /// What is left of the way after `progress` intervals, and the speed.
    private func linear(_ progress: Double) -> (PoseDifference, PoseDifference) {
        progress < 1 ? (self.displacement * (1 - progress), .zero) : (.zero, .zero)
    }

    /// The motion of a critically damped spring from displacement d with velocity v: (d + (v + ω·d)·t)·e^(−ω·t). With
    /// ω = 4 / interval, (1 + 4)·e^−4 = 9 % of the way is left after an interval.
    private func spring(_ progress: Double) -> (PoseDifference, PoseDifference) {
        let phase = 4 * progress
        // Less is left than can be seen, and it must end some time: of a screen's width, less than 10⁻⁸ pixels.
        guard phase < 30 else { return (.zero, .zero) }
        let omega = 4 / self.interval
        let pull = self.velocity + self.displacement * omega
        let time = progress * self.interval
        let left = (self.displacement + pull * time) * exponential(-phase)
        return (left, (self.velocity - pull * phase) * exponential(-phase))
    }
}

/// The measured time between the updates of one publisher, ms: how long a movement to the latest one may last so that it
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
