/// What a daemon does on its reactor's thread. Made there, stays there, need not be Sendable.
package protocol ReactorLoop: AnyObject {
    /// After every poll: something is ready, a mailbox has something, or a deadline has passed. Drain links (`next()` until nil),
    /// descriptors and mailboxes; never block.
    /// - Parameter now: nanoseconds of CLOCK_MONOTONIC.
    /// - Returns: when to come back at the latest, or nil. The links' own deadlines need not be included.
    func turn(now: UInt64) -> UInt64?

    /// Once, when the reactor was asked to stop: stop the intake, begin to drain. Turns go on.
    func stopRequested(now: UInt64)

    /// Asked after every turn from then on; the loop ends when it is true, or when the drain limit has passed.
    var isDrained: Bool { get }

    /// The last call on the thread. Links are still open; they say goodbye and close right after.
    func stopped()
}

extension ReactorLoop {
    /// Nothing to prepare.
    package func stopRequested(now: UInt64) {}
    /// Nothing to drain.
    package var isDrained: Bool { true }
    /// Nothing to end.
    package func stopped() {}
}
