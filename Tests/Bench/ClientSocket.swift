import Glibc

/// The TCP connection of one client; no call blocks.
struct ClientSocket {
    private(set) var descriptor: Int32 = -1
    /// Bytes that the kernel's buffer had no room for.
    private var unsent: [UInt8] = []

    var isOpen: Bool { self.descriptor >= 0 }
    /// True when the kernel has accepted all bytes so far.
    var isWritable: Bool { self.unsent.isEmpty }

    /// Starts to connect.
    /// - Parameter isSlow: uses a small buffer, and segments as small as on a real network: with loopback's segments of
    ///   64 KiB, the server's kernel would buffer megabytes before the server noticed.
    /// - Returns: 0, or an errno.
    mutating func dial(_ address: ServerAddress, isSlow: Bool) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        self.descriptor = address.withPointer { address, _ in socket(Int32(address.pointee.sa_family), kind, 0) }
        guard self.descriptor >= 0 else { return errno }
        self.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        if isSlow {
            self.set(SOL_SOCKET, SO_RCVBUF, 4096)
            self.set(Int32(IPPROTO_TCP), TCP_MAXSEG, 1400)
        }
        return address.withPointer { connect(self.descriptor, $0, $1) } == 0 || errno == EINPROGRESS ? 0 : errno
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(self.descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether it is connected, once it is writable for the first time.
    /// - Returns: 0, or an errno.
    func connected() -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Sends bytes after the queued ones; none when the socket is writable again. A broken connection takes none, and
    /// reports its error on the next read.
    mutating func send(_ bytes: [UInt8] = []) {
        guard self.unsent.isEmpty || bytes.isEmpty else {
            self.unsent += bytes
            return
        }
        let bytes = bytes.isEmpty ? self.unsent : bytes
        let sent = max(
            0, bytes.withUnsafeBytes { Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) })
        if sent < bytes.count || !self.unsent.isEmpty { self.unsent = Array(bytes[sent...]) }
    }

    /// Reads available bytes, up to the buffer's size.
    /// - Returns: their number; nil when nothing is left for now; 0 when the peer closed in order; else -errno.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? nil : -Int(errno)
    }

    mutating func close() {
        if self.isOpen { Glibc.close(self.descriptor) }
        self = ClientSocket()
    }

    /// The text of an errno.
    static func text(_ error: Int32) -> String { String(cString: strerror(error)) }
}
