import Glibc

/// A TCP port on loopback that a test answers by hand.
final class RawListener {
    private let descriptor: Int32
    let port: Int

    /// - Parameter backlog: connections that may wait to be accepted, not counting one.
    init(backlog: Int32 = 16) {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, size)
                _ = listen(descriptor, backlog)
                _ = getsockname(descriptor, $0, &size)
            }
        }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { self.close() }

    private var isClosed = false

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        Glibc.close(self.descriptor)
    }

    /// The next connection.
    func accept() throws -> RawClient { RawClient(accepted: try self.acceptDescriptor()) }

    /// The descriptor of the next connection; the caller closes it.
    func acceptDescriptor() throws -> Int32 {
        let accepted = Glibc.accept(self.descriptor, nil, nil)
        guard accepted >= 0 else { throw RawClient.Failure(message: "accept: \(errno)") }
        return accepted
    }
}
