/// Where a daemon's loop is in its life. Whether it rests meanwhile is its links' business, as they tell the neighbours.
package enum ServicePhase: Sendable {
    /// What it depends on was not asked for yet.
    case starting
    case running
    /// It was asked to stop: what waits is finished.
    case draining
    /// The intake is closed, and nothing new is accepted.
    case drained
}
