internal import CZeroMQ
internal import Glibc

/// The part of a socket that the poll set retains: libzmq's pointer, its signalling descriptor, and its known
/// readiness.
///
/// libzmq signals on `ZMQ_FD` only when something changed since the socket's last check. So before sleeping on the
/// descriptor, `ZMQ_EVENTS` must be read again if the socket was used in between. `isTouched` tracks exactly that; it
/// saves the check (a system call) for every unused socket.
final class SocketCore {
    private(set) var pointer: UnsafeMutableRawPointer?
    let signal: Int32
    /// A send ran the socket's internal commands and may have swallowed a signal.
    var isTouched = true
    var isReadable = false
    var isWritable = false
    /// True while a user waits for `writable`.
    var wantsWritable = false
    /// The descriptor was signalled since the owner's last check.
    var wasSignalled = false
    private let context: MeshContext
    private weak var thread: ReactorThread?
    #if DEBUG
        private let owner = pthread_self()
    #endif

    init(_ context: MeshContext, kind: Int32, thread: ReactorThread?) throws(MeshError) {
        try context.socketOpened()
        guard let pointer = zmq_socket(context.pointer, kind) else {
            let number = zmq_errno()
            context.socketClosed()
            throw MeshError(errno: number, "cannot make a ZeroMQ socket")
        }
        var signal: Int32 = -1
        var size = MemoryLayout<Int32>.size
        guard zmq_getsockopt(pointer, ZMQ_FD, &signal, &size) == 0 else {
            let number = zmq_errno()
            zmq_close(pointer)
            context.socketClosed()
            throw MeshError(errno: number, "cannot read a socket's descriptor")
        }
        self.pointer = pointer
        self.signal = signal
        self.context = context
        self.thread = thread
        try thread?.register(self)
    }

    deinit { self.close() }

    /// Closes the socket; its queue is sent for as long as its LINGER allows. Idempotent.
    func close() {
        guard let pointer = self.pointer else { return }
        self.checkThread()
        self.thread?.unregister(self)
        self.pointer = nil
        zmq_close(pointer)
        self.context.socketClosed()
    }

    func refresh() {
        guard let pointer = self.pointer else { return }
        let events = mesh_events(pointer)
        self.isReadable = events > 0 && events & ZMQ_POLLIN != 0
        self.isWritable = events > 0 && events & ZMQ_POLLOUT != 0
        // While a user waits for `writable`, a receive may swallow that signal too; so check every time.
        self.isTouched = self.wantsWritable
    }

    var isReady: Bool { self.isReadable || (self.wantsWritable && self.isWritable) }

    /// A socket belongs to the thread that created it; using it elsewhere is undefined in libzmq, so trap where it is
    /// cheap.
    @inline(__always)
    func checkThread() {
        #if DEBUG
            precondition(pthread_equal(self.owner, pthread_self()) != 0, "a ZeroMQ socket was used on a foreign thread")
        #endif
    }
}
