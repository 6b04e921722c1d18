internal import CZeroMQ
internal import NIOConcurrencyHelpers

/// A libzmq context: its I/O threads and everything that the sockets made from it share.
///
/// One per process, or one per daemon where several daemons share a process. The reactor makes its own and closes
/// it last. libzmq's contexts are safe to use from any thread; sockets are not (see `Socket`).
package final class MeshContext: @unchecked Sendable {  // `pointer` is used for thread-safe calls only, as zmq_ctx_* are.
    private enum Phase { case open, closing, closed }
    private struct State {
        var phase = Phase.open
        var sockets = 0
    }

    let pointer: UnsafeMutableRawPointer
    private let state = NIOLockedValueBox(State())
    private let allSocketsClosed = ConditionLock(value: true)

    /// - Parameters:
    ///   - ioThreads: libzmq's own threads, 1 … 16; one carries about a gigabyte per second.
    ///   - maximumSockets: at most this many sockets at a time (a link takes two).
    package init(ioThreads: Int = 1, maximumSockets: Int = 4096) throws(MeshError) {
        guard (1...16).contains(ioThreads) else {
            throw MeshError(.invalidOption, "I/O threads must be 1 to 16, not \(ioThreads)")
        }
        guard (1...65_535).contains(maximumSockets) else {
            throw MeshError(.invalidOption, "sockets must be 1 to 65535, not \(maximumSockets)")
        }
        guard let pointer = zmq_ctx_new() else { throw MeshError(errno: zmq_errno(), "cannot make a ZeroMQ context") }
        zmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(ioThreads))
        zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, Int32(maximumSockets))
        self.pointer = pointer
    }

    deinit {
        // Sockets hold their context, so none is open here; what remains is at most their bounded linger.
        if self.state.withLockedValue({ $0.phase }) == .open { zmq_ctx_term(self.pointer) }
    }

    /// Ends the context: waits until its sockets are closed and have sent what they may (their LINGER), then frees it.
    ///
    /// Blocks, so call it on the reactor's thread or at the end of a test, not on the cooperative pool.
    /// A socket that is still open after `limit` would make libzmq wait for ever; the context is then left behind
    /// (its socket's calls fail with ETERM) and the result is false.
    @discardableResult
    package func close(limit: Duration = .seconds(2)) -> Bool {
        let first = self.state.withLockedValue { state -> Bool in
            guard state.phase == .open else { return false }
            state.phase = .closing
            return true
        }
        guard first else { return self.state.withLockedValue { $0.phase } == .closed }
        let seconds = Double(limit.nanosecondsClamped) / 1e9
        guard self.allSocketsClosed.lock(whenValue: true, timeoutSeconds: seconds) else {
            zmq_ctx_shutdown(self.pointer)
            return false
        }
        self.allSocketsClosed.unlock()
        while zmq_ctx_term(self.pointer) != 0, zmq_errno() == EINTR {}
        self.state.withLockedValue { $0.phase = .closed }
        return true
    }

    /// Sockets that are open now.
    package var openSockets: Int { self.state.withLockedValue { $0.sockets } }

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
