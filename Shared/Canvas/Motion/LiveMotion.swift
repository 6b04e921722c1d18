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

    public init() {}

    /// Takes over an element's motion and animation. What it already plays keeps its start.
    /// - Parameters:
    ///   - arrival: when a live update brought them, ms since 1970 of the server's clock; nil for what is from a snapshot,
    ///     a replay or the history: that starts when the server says.
    ///   - isBack: whether an undo or a redo brought them: their animation may have started long ago.
    public mutating func update(
        to motion: Motion, _ animation: KeyframeAnimation?, arrival: Double?, isBack: Bool = false
    ) {
        func start(_ startedAt: Double, told: Double?, shown: Double?, earliest: Double = Self.earliest) -> Double {
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
                animation.startedAt, told: self.toldOfAnimation, shown: self.animation?.startedAt,
                earliest: isBack ? .infinity : Self.earliest)
        }
        (self.motion, self.told, self.animation, self.toldOfAnimation) = (next, told, shown, animation?.startedAt)
    }

    /// When all is over that moves at a time, or will, ms since 1970; infinity: never. Minus infinity if nothing does.
    public func end(from time: Double) -> Double {
        let tracks = self.motion.tracks.entries.filter { $0.value.running(at: time) != nil }
        let end = tracks.map(\.value.endsAt).max() ?? -.infinity
        guard let animation = self.animation, !animation.isOver(at: time) else { return end }
        return max(end, animation.endsAt)
    }

    /// What shows of a stored pose at a time, ms since 1970 of the server's clock.
    public func pose(_ stored: Pose, at time: Double) -> Pose {
        self.motion.shown(stored, animation: self.animation, at: time)
    }
}
