import Timing

/// When rooms of several movers depart, so that many of them share one wake-up or follow one envelope.
struct SharedDepartures {
    /// The last departure of such a room; nil: none yet.
    private var last: Instant?

    /// When such a room may depart, which may from `due` on: now if others depart right now, or if none did shortly before;
    /// later on at a time that many rooms share.
    func next(from due: Instant, at now: Instant, _ window: GatheringWindow) -> Instant {
        if due > now {
            let cell = window.cell.count
            return due + Nanoseconds((cell - due.nanoseconds % cell) % cell)
        }
        guard let last = self.last, last != now else { return now }
        return max(now, last + window.gathering)
    }

    /// Such a room departs.
    mutating func departed(at now: Instant) { self.last = now }
}
