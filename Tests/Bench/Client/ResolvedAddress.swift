import Glibc

/// A server's address in the kernel's form.
struct ResolvedAddress: Sendable {
    private let storage: sockaddr_storage
    private let length: socklen_t
    let family: Int32

    /// Resolves a host; uses the first address.
    /// - Throws: a ``BenchFailure`` when there is none.
    init(_ address: ServerAddress) throws(BenchFailure) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(address.host, "\(address.port)", &hints, &found)
        guard result == 0, let found else {
            throw BenchFailure("\(address.host) is unknown: \(gai_strerror(result).map { String(cString: $0) } ?? "")")
        }
        defer { freeaddrinfo(found) }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            let count = min(Int(found.pointee.ai_addrlen), bytes.count)
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: found.pointee.ai_addr, count: count))
        }
        self.storage = storage
        self.length = found.pointee.ai_addrlen
        self.family = found.pointee.ai_family
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: self.storage) {
            body(UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self), self.length)
        }
    }
}
