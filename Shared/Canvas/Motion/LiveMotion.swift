/// What moves of an element on one screen: its motion and its animation with the starts that they have there. What a
/// live update brings starts when the server says, but not later than it arrives, and hardly earlier: clocks of servers
/// that differ shift it by less than can be seen.
public struct LiveMotion: Equatable, Sendable {
    /// The earliest start before the arrival, ms.
    public static let earliest = 300.0

    /// With the starts of this screen.
    public private(set) var motion = Motion()
    /// With the start of this screen.
    public private(set) var animation: KeyframeAnimation?
    /// The starts that the server told.
    private var told = ByField<Double>()
    private var toldOfAnimation: Double?

    /// Nothing moves.
    public init() {}

    /// Takes over an element's motion and animation. What it already plays keeps its start.
    /// - Parameters:
    ///   - arrival: when a live update brought them, ms since 1970 of the server's clock; nil for what is from a snapshot,
    ///     a replay or the history: that starts when the server says.
    ///   - earliest: how long before its arrival something may start, ms; infinity for an undo, which brings back what
    ///     started long ago.
    public mutating func update(
        to motion: Motion, _ animation: KeyframeAnimation?, arrival: Double?, earliest: Double = Self.earliest
    ) {
        func start(_ startedAt: Double, told: Double?, shown: Double?) -> Double {
            guard let arrival else { return startedAt }
            if told == startedAt, let shown { return shown }
            return clamped(startedAt, arrival - earliest, arrival)
        }
        var (next, told) = (motion, ByField<Double>())
        for (field, track) in motion.tracks.entries.map({ ($0.field, $0.value) }) {
            told[field] = track.startedAt
            next[field]?.startedAt = start(
                track.startedAt, told: self.told[field], shown: self.motion[field]?.startedAt)
        }
        var shown = animation
        if let animation {
            shown?.startedAt = start(
                animation.startedAt, told: self.toldOfAnimation, shown: self.animation?.startedAt)
        }
        (self.motion, self.told, self.animation, self.toldOfAnimation) = (next, told, shown, animation?.startedAt)
    }

    /// Whether anything moves at a time, ms since 1970 of the server's clock, or will.
    public func isMoving(at time: Double) -> Bool {
        self.motion.isRunning(at: time) || self.animation?.isOver(at: time) == false
    }

    /// When nothing moves any more, ms since 1970; minus infinity if nothing does, nil if it never ends.
    public var endsAt: Double? {
        let tracks = self.motion.tracks.entries.map(\.value.endsAt)
        let end = max(tracks.max() ?? -.infinity, self.animation?.endsAt ?? -.infinity)
        return end == .infinity ? nil : end
    }

    /// What shows of a stored pose at a time, ms since 1970 of the server's clock.
    public func pose(_ stored: Pose, at time: Double) -> Pose {
        self.motion.shown(stored, animation: self.animation, at: time)
    }
}
