internal import CLinux
internal import Glibc

/// Stop requests, as a descriptor to poll.
struct StopRequests {
    let descriptor: Int32

    /// SIGTERM, SIGINT and SIGHUP, which no longer interrupt anything. Call before any other thread exists: a thread
    /// that does not block them would receive them.
    static func signals() throws(OperatorFailure) -> StopRequests {
        let descriptor = linux_stop_signals()
        guard descriptor >= 0 else { throw OperatorFailure("signals cannot be watched", errno: -descriptor) }
        return StopRequests(descriptor: descriptor)
    }

    /// Whether one comes within some milliseconds.
    func isRequested(within milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) > 0
    }

    /// Consumes all pending requests.
    /// - Returns: their number.
    func drain() -> Int {
        // A signal is a record of 128 bytes (signalfd(2)); each read consumes one.
        var record = [UInt8](repeating: 0, count: 128)
        var count = 0
        while record.withUnsafeMutableBytes({ read(self.descriptor, $0.baseAddress, $0.count) }) > 0 { count += 1 }
        return count
    }
}
