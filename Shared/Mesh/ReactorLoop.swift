package import Timing

/// A daemon's work on its reactor's thread. Created there and confined to it; need not be Sendable.
package protocol ReactorLoop: AnyObject {
    /// Called after every poll: something is ready, a mailbox is not empty, or a deadline has passed. Drain links
    /// (`next()` until nil), descriptors and mailboxes; never block.
    /// - Returns: the next deadline, or nil. The links' own deadlines need not be included.
    func turn(at now: Instant) -> Instant?

    /// Called once, when the reactor was asked to stop: close the intake, start to drain. Turns continue.
    func stopRequested(at now: Instant)

    /// Checked after every turn from then on; the loop ends when it is true, or at the drain limit.
    var isDrained: Bool { get }

    /// The last call on the thread. Links are still open; they say goodbye and close right after.
    func stopped()
}

extension ReactorLoop {
    package func stopRequested(at now: Instant) {}
    package var isDrained: Bool { true }
    package func stopped() {}
}

/// The maximum number of messages that a link delivers per turn, so that no peer and no link starves another.
let messagesPerTurn = 256
