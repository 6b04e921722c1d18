internal import CLinux
internal import Glibc

/// Requests to stop, as a descriptor to poll.
struct StopRequests {
    let descriptor: Int32

    /// SIGTERM, SIGINT and SIGHUP, which no longer interrupt anything. Made before any other thread exists: one that
    /// does not block them would get them.
    static func signals() throws(OperatorFailure) -> StopRequests {
        let descriptor = linux_stop_signals()
        guard descriptor >= 0 else { throw OperatorFailure("signals cannot be watched", errno: -descriptor) }
        return StopRequests(descriptor: descriptor)
    }

    /// Takes all requests that came.
    /// - Returns: their number.
    func take() -> Int {
        // A signal is a record of 128 bytes (signalfd(2)); each read takes one.
        var record = [UInt8](repeating: 0, count: 128)
        var count = 0
        while record.withUnsafeMutableBytes({ read(self.descriptor, $0.baseAddress, $0.count) }) > 0 { count += 1 }
        return count
    }
}
