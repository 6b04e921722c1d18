import CLinux
import Glibc

/// Waits for many sockets with epoll(7).
///
/// Every socket is registered once for all events, edge-triggered: the receiver of an event must read until nothing is
/// left. So a socket costs no system calls but its own reads and writes.
final class Poller {
    /// An event of one socket.
    struct Event {
        /// The number it was added with.
        let index: Int
        fileprivate let flags: UInt32

        var isWritable: Bool { self.flags & linux_epoll_out != 0 }
        /// The peer has closed, or the connection broke.
        var isClosed: Bool {
            self.flags & (linux_epoll_peer_hangup | linux_epoll_hangup | linux_epoll_error) != 0
        }
    }

    private let descriptor: Int32
    private let events = UnsafeMutableBufferPointer<linux_epoll_event>.allocate(capacity: 1024)

    /// - Throws: a ``BenchFailure`` when the kernel provides none.
    init() throws(BenchFailure) {
        self.descriptor = linux_epoll()
        guard self.descriptor >= 0 else { throw BenchFailure("epoll: \(ClientSocket.text(-self.descriptor))") }
    }

    deinit {
        close(self.descriptor)
        self.events.deallocate()
    }

    /// Registers a socket until it is closed.
    /// - Returns: true on success.
    func add(_ socket: Int32, index: Int) -> Bool {
        let flags = linux_epoll_in | linux_epoll_out | linux_epoll_peer_hangup | linux_epoll_edges
        return linux_epoll_add(self.descriptor, socket, flags, UInt64(index)) == 0
    }

    /// Waits until something happens.
    /// - Parameter limit: maximum time, nanoseconds.
    /// - Returns: the indices of the events, for ``subscript(_:)``, valid until the next wait.
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
