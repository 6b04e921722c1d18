import Glibc

/// The TCP connection of one client; no call blocks.
struct ClientSocket {
    /// The result of a read.
    enum Received: Equatable {
        case bytes(Int)
        /// Nothing left to read for now.
        case nothing
        /// The connection has ended; `reason` is nil if the peer closed it in order.
        case end(reason: Int32?)
    }

    private(set) var descriptor: Int32 = -1
    /// Bytes that the kernel's buffer had no room for; at most those of a greeting.
    private var unsent: [UInt8] = []

    var isOpen: Bool { self.descriptor >= 0 }
    /// True when the kernel has accepted all bytes so far.
    var isWritable: Bool { self.unsent.isEmpty }

    /// Starts to connect.
    /// - Parameter isSlow: uses a small buffer, and segments as small as on a real network: with loopback's segments of
    ///   64 KiB, the server's kernel would buffer megabytes before the server noticed.
    /// - Returns: 0, or an errno.
    mutating func dial(_ address: ResolvedAddress, isSlow: Bool) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        self.descriptor = socket(address.family, kind, 0)
        guard self.descriptor >= 0 else { return errno }
        self.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        if isSlow {
            self.set(SOL_SOCKET, SO_RCVBUF, 4096)
            self.set(Int32(IPPROTO_TCP), TCP_MAXSEG, 1400)
        }
        let result = address.withPointer { connect(self.descriptor, $0, $1) }
        return result == 0 || errno == EINPROGRESS ? 0 : errno
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(self.descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Called when the socket becomes writable for the first time: checks whether it is connected.
    /// - Returns: 0, or an errno.
    func connected() -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Sends bytes after the queued ones.
    mutating func send(_ bytes: [UInt8]) {
        guard self.unsent.isEmpty else {
            self.unsent += bytes
            return
        }
        let sent = bytes.withUnsafeBytes { self.write($0) }
        if sent < bytes.count { self.unsent = Array(bytes[sent...]) }
    }

    /// Sends queued bytes; call when the socket is writable again.
    mutating func flush() {
        guard !self.unsent.isEmpty else { return }
        let sent = self.unsent.withUnsafeBytes { self.write($0) }
        self.unsent.removeFirst(sent)
    }

    /// The number of bytes that the kernel accepted. A broken connection accepts none, and reports its error on the
    /// next read.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        max(0, Glibc.send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    }

    /// Reads available bytes, up to the buffer's size.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        let count = recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end(reason: nil) }
        return errno == EAGAIN || errno == EINTR ? .nothing : .end(reason: errno)
    }

    mutating func close() {
        if self.isOpen { Glibc.close(self.descriptor) }
        self = ClientSocket()
    }

    /// The text of an errno.
    static func text(_ error: Int32) -> String { strerror(error).map { String(cString: $0) } ?? "error \(error)" }
}
