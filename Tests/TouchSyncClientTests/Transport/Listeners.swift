#if os(Linux)
    import Glibc

    /// A bound TCP socket on loopback.
    private func boundSocket() -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, size)
                _ = getsockname(descriptor, $0, &size)
            }
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A port of loopback that refuses connections.
    final class RefusedPort: Sendable {
        private let descriptor: Int32
        let number: Int

        init() { (self.descriptor, self.number) = boundSocket() }

        deinit { close(self.descriptor) }
    }

    /// A port of loopback whose queue of connections is full, so that a further client waits for an answer.
    final class FullListener: Sendable {
        private let descriptor: Int32
        private let filler: Int32
        let port: Int

        init() {
            (self.descriptor, self.port) = boundSocket()
            listen(self.descriptor, 0)
            self.filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = in_port_t(UInt16(self.port)).bigEndian
            let filler = self.filler
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(filler, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        deinit {
            close(self.filler)
            close(self.descriptor)
        }

        /// Whether a client has asked for a connection that is not made: its state in the kernel's table is 02.
        var isAwaited: Bool {
            let hex = String(self.port, radix: 16, uppercase: true)
            let peer = " 0100007F:\(String(repeating: "0", count: 4 - hex.count))\(hex) 02 "
            return Self.connections.contains(peer)
        }

        private static var connections: String {
            guard let file = fopen("/proc/net/tcp", "r") else { return "" }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
