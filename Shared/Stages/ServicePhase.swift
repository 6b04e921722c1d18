/// The lifecycle phase of a daemon's loop. Resting is independent of it: the links report that to the neighbours.
package enum ServicePhase: Sendable {
    /// Its dependencies have not been requested yet.
    case starting
    case running
    /// Shutdown was requested: pending work is finished.
    case draining
    /// The intake is closed: nothing new is accepted.
    case drained
}
