import CLinux
import Glibc

/// Waits for many sockets at once (epoll(7)).
///
/// Every socket is watched for everything from its first moment to its end, and told of once for each change: whoever
/// is told must read until nothing is left. So a socket costs no further call of the kernel but its own reads and writes.
final class Poller {
    /// What happened to one socket.
    struct Event {
        /// The number it was added with.
        let index: Int
        fileprivate let flags: UInt32

        var isWritable: Bool { self.flags & linux_epoll_out != 0 }
        /// The other side has closed, or the connection broke.
        var isClosed: Bool {
            self.flags & (linux_epoll_peer_hangup | linux_epoll_hangup | linux_epoll_error) != 0
        }
    }

    private let descriptor: Int32
    private let events = UnsafeMutableBufferPointer<linux_epoll_event>.allocate(capacity: 1024)

    /// - Throws: a ``BenchFailure`` when the kernel has none to give.
    init() throws(BenchFailure) {
        self.descriptor = linux_epoll()
        guard self.descriptor >= 0 else { throw BenchFailure("epoll: \(ClientSocket.text(-self.descriptor))") }
    }

    deinit {
        close(self.descriptor)
        self.events.deallocate()
    }

    /// Watches a socket until it is closed.
    /// - Returns: whether the kernel could.
    func add(_ socket: Int32, index: Int) -> Bool {
        let flags = linux_epoll_in | linux_epoll_out | linux_epoll_peer_hangup | linux_epoll_edges
        return linux_epoll_add(self.descriptor, socket, flags, UInt64(index)) == 0
    }

    /// Waits until something happens.
    /// - Parameter limit: nanoseconds at most.
    /// - Returns: the places of the events, for ``subscript(_:)``, until the next wait.
    func wait(atMost limit: Int64) -> Range<Int> {
        let count = linux_epoll_wait(
            self.descriptor, self.events.baseAddress, Int32(self.events.count), Int(max(0, limit)))
        return 0..<max(0, Int(count))
    }

    subscript(_ place: Int) -> Event {
        let event = self.events[place]
        return Event(index: Int(truncatingIfNeeded: event.tag), flags: event.events)
    }
}
