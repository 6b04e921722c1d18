import Timing

/// When rooms of several movers depart, so that many of them share one wake-up or follow one envelope.
struct SharedDepartures {
    /// The last departure of such a room; nil: none yet.
    private var last: Instant?

    /// The departure time of a room of several movers whose rate allows it from `due` on. If `due` is ahead: the next
    /// multiple of the window's cell. Else `now`, unless other rooms departed less than `window.gathering` ago, but not
    /// at this very moment: then the end of that pause.
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
