package import Timing

/// What a daemon does on its reactor's thread. Made there, stays there, need not be Sendable.
package protocol ReactorLoop: AnyObject {
    /// After every poll: something is ready, a mailbox has something, or a deadline has passed. Drain links (`next()` until nil),
    /// descriptors and mailboxes; never block.
    /// - Returns: when to come back at the latest, or nil. The links' own deadlines need not be included.
    func turn(at now: Instant) -> Instant?

    /// Once, when the reactor was asked to stop: stop the intake, begin to drain. Turns go on.
    func stopRequested(at now: Instant)

    /// Asked after every turn from then on; the loop ends when it is true, or when the drain limit has passed.
    var isDrained: Bool { get }

    /// The last call on the thread. Links are still open; they say goodbye and close right after.
    func stopped()
}

extension ReactorLoop {
    /// Nothing to prepare.
    package func stopRequested(at now: Instant) {}
    /// Nothing to drain.
    package var isDrained: Bool { true }
    /// Nothing to end.
    package func stopped() {}
}
