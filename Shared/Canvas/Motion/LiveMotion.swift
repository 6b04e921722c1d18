/// What plays of an element on one screen: its motion and its animation with the starts that they have there. What a
/// live update brings starts when the server says, but not later than it arrives, and hardly earlier: clocks of servers
/// that differ shift it by less than can be seen.
public struct LiveMotion: Equatable, Sendable {
    /// The earliest start before the arrival, ms.
    public static let earliest = 300.0

    /// With the starts of this screen.
    public private(set) var playback = Playback()
    /// The starts that the server told.
    private var told = ByField<Double>()
    private var toldOfAnimation: Double?

    public init() {}

    /// Takes over an element's motion and animation. What it already plays keeps its start.
    /// - Parameters:
    ///   - arrival: when a live update brought them, ms since 1970 of the server's clock; nil for what is from a snapshot,
    ///     a replay or the history: that starts when the server says.
    ///   - isBack: whether an undo or a redo brought them: their animation may have started long ago.
    public mutating func update(to server: Playback, arrival: Double?, isBack: Bool = false) {
        func start(_ startedAt: Double, told: Double?, shown: Double?, earliest: Double = Self.earliest) -> Double {
            guard let arrival else { return startedAt }
            if told == startedAt, let shown { return shown }
            return clamped(startedAt, arrival - earliest, arrival)
        }
        var (next, told) = (server, ByField<Double>())
        for (field, track) in server.motion.tracks.entries.map({ ($0.field, $0.value) }) {
            told[field] = track.startedAt
            next.motion[field]?.startedAt = start(
                track.startedAt, told: self.told[field], shown: self.playback.motion[field]?.startedAt)
        }
        if let animation = server.animation {
            next.animation?.startedAt = start(
                animation.startedAt, told: self.toldOfAnimation, shown: self.playback.animation?.startedAt,
                earliest: isBack ? .infinity : Self.earliest)
        }
        (self.playback, self.told, self.toldOfAnimation) = (next, told, server.animation?.startedAt)
    }
}
