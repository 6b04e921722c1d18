internal import CLinux
internal import Glibc
package import Logging
internal import NIOConcurrencyHelpers
package import Timing

/// One thread with a poll loop over ZeroMQ sockets, foreign descriptors and an eventfd; it runs a daemon's links.
///
/// ```
///   idle ──start/run──▶ running ──stop──▶ draining ──drained or limit──▶ ended
///                          └────────── make threw ────────────────────────▲
/// ```
/// The handle is Sendable; everything inside (`ReactorThread`, the loop, the links) stays on the thread. The thread
/// sleeps in `ppoll` until something is ready or a deadline is reached: it has no polling interval. All signals are
/// blocked on it.
package final class Reactor: Sendable {
    private enum Phase { case idle, running, ended }
    private struct State {
        var phase = Phase.idle
        var stopRequested = false
        var thread: pthread_t?
        var failure: (any Error)?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    package let name: String
    /// Wakes the loop; pass it to the mailboxes that the loop drains. Valid before the start and after the end.
    package let waker: Waker
    private let drainLimit: Duration
    private let logger: Logger
    private let keys: LinkKeys?
    private let beat: (@Sendable () -> Void)?
    private let make: @Sendable (ReactorThread) throws -> any ReactorLoop
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - name: the thread's name; Linux shows its first 15 bytes.
    ///   - drainLimit: the longest time from ``stop()`` to the end.
    ///   - keys: guard the links over TCP; nil for plain ones.
    ///   - beat: called on the thread about once a second, even when idle, as proof that the loop turns.
    ///   - make: creates the loop on the thread, where it opens its links. Its errors are thrown by `run` or `ended`.
    package init(
        name: String, drainLimit: Duration = .seconds(5), logger: Logger, keys: LinkKeys? = nil,
        beat: (@Sendable () -> Void)? = nil,
        make: @escaping @Sendable (ReactorThread) throws -> any ReactorLoop
    ) throws(MeshError) {
        self.name = name
        self.waker = try Waker()
        self.drainLimit = drainLimit
        self.logger = logger
        self.keys = keys
        self.beat = beat
        self.make = make
    }

    /// Starts the thread and returns. Does nothing when it was already started.
    package func start() throws(MeshError) {
        let code = self.state.withLockedValue { state -> Int32 in
            guard state.phase == .idle else { return 0 }
            var thread = pthread_t()
            let body = Unmanaged.passRetained(self)
            let code = pthread_create(
                &thread, nil,
                { raw in
                    guard let raw else { return nil }
                    Unmanaged<Reactor>.fromOpaque(raw).takeRetainedValue().main()
                    return nil
                }, body.toOpaque())
            guard code == 0 else {
                body.release()
                return code
            }
            state.phase = .running
            state.thread = thread
            return 0
        }
        if code != 0 { throw MeshError(errno: code, "cannot start the thread '\(self.name)'") }
    }

    /// Starts the thread if needed and suspends until it has ended. Cancellation requests a stop and still waits for
    /// the end.
    package func run() async throws {
        try self.start()
        try await withTaskCancellationHandler {
            try await self.ended()
        } onCancel: {
            self.stop()
        }
    }

    /// Suspends until the thread has closed its sockets and its context and is joined; returns immediately if it never
    /// started.
    /// - Throws: what `make` threw.
    package func ended() async throws {
        await withCheckedContinuation { continuation in
            let wait = self.state.withLockedValue { state -> Bool in
                guard state.phase == .running else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !wait { continuation.resume() }
        }
        let (thread, failure) = self.state.withLockedValue { state in
            defer { state.thread = nil }
            return (state.thread, state.failure)
        }
        // The thread has only to return, so this takes microseconds.
        if let thread { pthread_join(thread, nil) }
        if let failure { throw failure }
    }

    /// Requests that the loop drain and end. Returns immediately; may be called from any thread, any number of times.
    package func stop() {
        self.state.withLockedValue { $0.stopRequested = true }
        self.waker.signal()
    }

    // MARK: On the thread

    private func main() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
        _ = linux_name_thread(self.name)  // Linux keeps the first 15 bytes.
        var failure: (any Error)?
        do {
            let context = try MeshContext()
            let thread = ReactorThread(context: context, logger: self.logger, waker: self.waker, keys: self.keys)
            do {
                try thread.startGuard()
                self.loop(try self.make(thread), thread)
            } catch {
                failure = error
            }
            thread.closeLinks()
            if !context.close(limit: .seconds(15)) {
                self.logger.error(
                    "sockets were left open, context abandoned", metadata: ["mesh.reactor": "\(self.name)"])
            }
        } catch {
            failure = error
        }
        let waiting = self.state.withLockedValue { state in
            state.phase = .ended
            state.failure = failure
            return exchange(&state.waiting, with: [])
        }
        for continuation in waiting { continuation.resume() }
    }

    private func loop(_ loop: any ReactorLoop, _ thread: ReactorThread) {
        var drainEnd: Instant?
        var nextBeat = Instant.start
        while true {
            let now = MonotonicClock.now()
            if let beat = self.beat, now >= nextBeat {
                beat()
                nextBeat = now + .seconds(1)
            }
            if drainEnd == nil, self.state.withLockedValue({ $0.stopRequested }) {
                drainEnd = now + Nanoseconds(self.drainLimit)
                loop.stopRequested(at: now)
            }
            thread.turnLinks(at: now)
            var deadline = loop.turn(at: now)
            if let drainEnd {
                let isDrained = loop.isDrained
                if isDrained || now >= drainEnd {
                    if !isDrained {
                        self.logger.warning("drain limit reached", metadata: ["mesh.reactor": "\(self.name)"])
                    }
                    loop.stopped()
                    return
                }
                deadline = min(deadline ?? .never, drainEnd)
            }
            if self.beat != nil { deadline = min(deadline ?? .never, nextBeat) }
            if let linkDeadline = thread.linkDeadline { deadline = min(deadline ?? .never, linkDeadline) }
            thread.poll(until: deadline)
        }
    }
}

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

/// Wakes a reactor from any thread: an eventfd in its poll set.
package final class Waker: Sendable {
    let descriptor: Int32

    init() throws(MeshError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw MeshError(errno: errno, "cannot make an eventfd") }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Makes the reactor run another turn. Each call is a system call: signal per batch, not per element.
    package func signal() {
        var one: UInt64 = 1
        // The only failure is a full counter, and then it is signalled already.
        _ = write(self.descriptor, &one, 8)
    }

    func acknowledge() {
        var count: UInt64 = 0
        _ = read(self.descriptor, &count, 8)
    }
}
