import Glibc

/// The TCP connection of one client; nothing here ever waits.
struct ClientSocket {
    /// What a read brought.
    enum Received: Equatable {
        case bytes(Int)
        /// All is read for now.
        case nothing
        /// The connection is over; why is told if it was not the other side's will.
        case end(reason: Int32?)
    }

    private(set) var descriptor: Int32 = -1
    /// What the kernel had no room for; no more than what is said in a greeting.
    private var unsent: [UInt8] = []

    var isOpen: Bool { self.descriptor >= 0 }
    /// The kernel has taken all that was sent so far.
    var isWritable: Bool { self.unsent.isEmpty }

    /// Begins to connect.
    /// - Parameter isSlow: with a small buffer, and with segments as small as those of a real network: for loopback's of
    ///   64 KiB, the server's kernel would keep megabytes before the server noticed.
    /// - Returns: 0, or why it is impossible.
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

    /// The socket is writable for the first time: it is connected, or never will be.
    /// - Returns: 0, or why it is not.
    func connected() -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Sends bytes, behind those that wait.
    mutating func send(_ bytes: [UInt8]) {
        guard self.unsent.isEmpty else {
            self.unsent += bytes
            return
        }
        let sent = bytes.withUnsafeBytes { self.write($0) }
        if sent < bytes.count { self.unsent = Array(bytes[sent...]) }
    }

    /// Sends what waits; to be called when the kernel has room again.
    mutating func flush() {
        guard !self.unsent.isEmpty else { return }
        let sent = self.unsent.withUnsafeBytes { self.write($0) }
        self.unsent.removeFirst(sent)
    }

    /// How many bytes the kernel took. A broken connection takes none, and tells so when it is read.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        max(0, Glibc.send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    }

    /// Reads what is there, as far as it fits.
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

    /// An error number for people.
    static func text(_ error: Int32) -> String { strerror(error).map { String(cString: $0) } ?? "error \(error)" }
}
