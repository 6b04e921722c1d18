internal import CZeroMQ
internal import Glibc
internal import NIOConcurrencyHelpers
internal import Timing

/// A libzmq context: its I/O threads and everything that its sockets share.
///
/// One per process, or one per daemon where several daemons share a process. The reactor creates its own and closes it
/// last. libzmq's contexts are thread-safe; sockets are not (see `Socket`).
// Unchecked, because `pointer` is used for zmq_ctx_* and zmq_socket only, which are thread-safe.
package final class MeshContext: @unchecked Sendable {
    private enum Phase { case open, closing, left, closed }
    private struct State {
        var phase = Phase.open
        var sockets = 0
    }

    let pointer: UnsafeMutableRawPointer
    private let state = NIOLockedValueBox(State())
    private let allSocketsClosed = ConditionLock(value: true)

    /// The most open sockets; a link needs two.
    private static let maximumSockets: Int32 = 4096

    package init() throws(MeshError) {
        guard let pointer = zmq_ctx_new() else { throw MeshError(errno: zmq_errno(), "cannot make a ZeroMQ context") }
        zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, Self.maximumSockets)
        self.pointer = pointer
    }

    deinit {
        // Sockets retain their context, so none is open here; at most their bounded linger remains.
        let phase = self.state.withLockedValue { $0.phase }
        if phase == .open || phase == .left { _ = self.terminate(until: MonotonicClock.now() + .seconds(10)) }
    }

    /// Ends the context: waits until its sockets are closed and have sent their queues (up to their LINGER), then frees
    /// it.
    ///
    /// Blocks, so call it on the reactor's thread or at the end of a test, not on the cooperative pool. libzmq itself
    /// would wait forever for a socket that was left open; here the wait is limited by `limit`. After that the result
    /// is false, calls on the sockets fail with ETERM, and the context is freed with the last of them.
    @discardableResult
    package func close(limit: Duration = .seconds(5)) -> Bool {
        let first = self.state.withLockedValue { state -> Bool in
            guard state.phase == .open else { return false }
            state.phase = .closing
            return true
        }
        guard first else { return self.state.withLockedValue { $0.phase } == .closed }
        let end = MonotonicClock.now() + Nanoseconds(limit)
        guard self.allSocketsClosed.lock(whenValue: true, timeoutSeconds: MeshContext.seconds(until: end)) else {
            zmq_ctx_shutdown(self.pointer)
            self.state.withLockedValue { $0.phase = .left }
            return false
        }
        self.allSocketsClosed.unlock()
        guard self.terminate(until: end) else { return false }
        self.state.withLockedValue { $0.phase = .closed }
        return true
    }

    // On a separate thread, because zmq_ctx_term has no timeout.
    private func terminate(until end: Instant) -> Bool {
        final class Termination: Sendable {
            let pointer: Int
            let isDone = ConditionLock(value: false)
            init(_ pointer: UnsafeMutableRawPointer) { self.pointer = Int(bitPattern: pointer) }
        }
        let termination = Termination(self.pointer)
        let body = Unmanaged.passRetained(termination)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                let termination = Unmanaged<Termination>.fromOpaque(raw).takeRetainedValue()
                if let pointer = UnsafeMutableRawPointer(bitPattern: termination.pointer) {
                    while zmq_ctx_term(pointer) != 0, zmq_errno() == EINTR {}
                }
                termination.isDone.lock()
                termination.isDone.unlock(withValue: true)
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        guard termination.isDone.lock(whenValue: true, timeoutSeconds: MeshContext.seconds(until: end)) else {
            return false
        }
        termination.isDone.unlock()
        return true
    }

    private static func seconds(until end: Instant) -> Double {
        let now = MonotonicClock.now()
        return max(end.elapsed(since: now).seconds, 0.001)
    }

    func socketOpened() throws(MeshError) {
        let open = self.state.withLockedValue { state -> Bool in
            guard state.phase == .open else { return false }
            state.sockets += 1
            self.setAllClosed(state.sockets == 0)
            return true
        }
        if !open { throw MeshError(.terminated, "the ZeroMQ context is closed") }
    }

    func socketClosed() {
        self.state.withLockedValue { state in
            state.sockets -= 1
            self.setAllClosed(state.sockets == 0)
        }
    }

    private func setAllClosed(_ value: Bool) {
        self.allSocketsClosed.lock()
        self.allSocketsClosed.unlock(withValue: value)
    }
}
