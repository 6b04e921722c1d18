import Timing

/// When rooms of several publishers flush, so that many of them share one wake-up or follow one envelope.
struct SharedFlushes {
    /// The last flush of such a room; nil: none yet.
    private var last: Instant?

    /// The flush time of a room of several publishers whose rate allows it from `due` on. If `due` is ahead: the next
    /// multiple of the window's cell. Else `now`, unless other rooms flushed less than `window.gathering` ago, but not
    /// at this very moment: then the end of that pause.
    func next(from due: Instant, at now: Instant, _ window: GatheringWindow) -> Instant {
        if due > now {
            let cell = window.cell.count
            return due + Nanoseconds((cell - due.nanoseconds % cell) % cell)
        }
        guard let last = self.last, last != now else { return now }
        return max(now, last + window.gathering)
    }

    /// Such a room flushes.
    mutating func flushed(at now: Instant) { self.last = now }
}
