package import Logging
package import Timing

/// The loop of a thread on which a reactor is a guest. Everything happens on that thread.
package protocol ReactorHost: AnyObject {
    /// Calls `signalled` each time that an eventfd is readable, until ``unwatch(_:)``.
    ///
    /// What the eventfd counts must be in it when `signalled` is called: libzmq looks at its own only then. A host that
    /// cannot wait without reading writes back what it read.
    /// - Throws: an error number, when no descriptor is left.
    func watch(_ descriptor: Int32, signalled: @escaping () -> Void) throws(MeshError)
    /// Ends that, before the descriptor is closed.
    func unwatch(_ descriptor: Int32)
}

/// A reactor on a thread that has a loop of its own, which saves the two wake-ups between two threads. The host watches
/// the descriptors and calls ``turn()`` when something is due; a ``Reactor`` with a thread of its own is the usual case.
///
/// Confined to the host's thread. Foreign descriptors (``DescriptorSource``) are the host's own affair.
package final class GuestReactor {
    private let thread: ReactorThread
    private let loop: any ReactorLoop
    private let host: any ReactorHost

    /// Wakes the host's thread for a turn, from any thread.
    package var waker: Waker { self.thread.waker }

    /// - Parameters:
    ///   - keys: guard the links over TCP; nil for plain ones.
    ///   - due: called when a turn is due.
    ///   - make: creates the loop, which opens its links. What it throws is thrown here.
    package init(
        on host: any ReactorHost, logger: Logger, keys: LinkKeys? = nil, due: @escaping () -> Void,
        make: (ReactorThread) throws -> any ReactorLoop
    ) throws {
        let context = try MeshContext()
        let thread = ReactorThread(context: context, logger: logger, waker: try Waker(), keys: keys)
        self.thread = thread
        self.host = host
        do {
            try thread.follow(host, due: due)
            try thread.startGuard()
            self.loop = try make(thread)
        } catch {
            thread.closeLinks()
            host.unwatch(thread.waker.descriptor)
            context.close()
            throw error
        }
    }

    /// One round: the links, then the loop.
    /// - Returns: when the next one is due if nothing is signalled before; nil when nothing else will happen.
    package func turn() -> Instant? {
        let now = MonotonicClock.now()
        self.thread.turnLinks(at: now)
        let deadline = self.loop.turn(at: now)
        if self.thread.recheck() { return now }
        return [deadline, self.thread.linkDeadline].compactMap { $0 }.min()
    }

    /// Looks whether something was signalled already: for a host that is busy, before it looks itself.
    package func isDue() -> Bool { self.thread.look() }

    /// Links were used between two rounds. That may have swallowed a signal.
    /// - Returns: true when a round is due.
    package func isDueAfterUse() -> Bool { self.thread.recheck() }

    /// Says goodbye on all links and closes them. Blocks until what is queued was sent, 1 s at most.
    package func close() {
        self.loop.stopped()
        self.thread.closeLinks()
        self.host.unwatch(self.thread.waker.descriptor)
        if !self.thread.context.close(limit: .seconds(15)) {
            self.thread.logger.error("sockets were left open, context abandoned")
        }
    }
}
