internal import Boot
internal import Glibc

/// A TCP address on which a program is to listen.
struct ListeningAddress: Hashable, CustomStringConvertible {
    /// A name or an address without brackets.
    let host: String
    /// 0 stands for any free one.
    let port: Int

    /// The addresses of a gateway with this setting.
    /// - Parameter host: nil for its default.
    static func hosts(of host: String?, hasIPv6: Bool) -> [String] {
        let hosts = Loopback.addresses(of: host ?? "127.0.0.1")
        return hosts.count == 1 || hasIPv6 ? hosts : hosts.filter { $0 != "::1" }
    }

    /// Whether this machine has `::1`.
    static var isIPv6Here: Bool { ListeningAddress(host: "::1", port: 0).obstacle() == nil }

    var description: String { self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }

    /// Why a program that starts now could not listen here; nil: it could.
    func obstacle() -> String? {
        guard (0...65_535).contains(self.port) else { return "ports end at 65535" }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(self.host, "\(self.port)", &hints, &found)
        defer { if found != nil { freeaddrinfo(found) } }
        guard code == 0, let place = found?.pointee else { return String(cString: gai_strerror(code)) }
        let descriptor = socket(place.ai_family, place.ai_socktype, place.ai_protocol)
        guard descriptor >= 0 else { return FileBytes.reason(errno) }
        defer { close(descriptor) }
        // As servers do: connections of a predecessor that are not forgotten yet are no obstacle.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if bind(descriptor, place.ai_addr, place.ai_addrlen) == 0 { return nil }
        switch errno {
        case EADDRINUSE: return PortHolder(of: self.port).map { "\($0) listens there" } ?? "the port is in use"
        case EADDRNOTAVAIL: return "this machine has no such address"
        case let code: return FileBytes.reason(code)
        }
    }
}

/// The program that listens on a TCP port, as far as this user may know it.
struct PortHolder: CustomStringConvertible {
    /// `python3.11 (process 123)`, or whose process it is.
    let description: String

    /// nil when nobody listens there.
    init?(of port: Int) {
        let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { Self.listening(on: port, in: $0) }
        guard let first = sockets.first else { return nil }
        for pid in FileBytes.names(in: "/proc") where pid.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) {
            for descriptor in FileBytes.names(in: "/proc/\(pid)/fd") {
                guard let target = FileBytes.link(at: "/proc/\(pid)/fd/\(descriptor)"),
                    sockets.contains(where: { target == "socket:[\($0.inode)]" })
                else { continue }
                let program = FileBytes.link(at: "/proc/\(pid)/exe").flatMap { $0.split(separator: "/").last }
                self.description = "\(program ?? "a program") (process \(pid))"
                return
            }
        }
        let user = getpwuid(first.user).map { String(cString: $0.pointee.pw_name) } ?? "\(first.user)"
        self.description = "a process of the user \(user)"
    }

    /// The sockets of a table of proc(5) that listen on a port.
    private static func listening(on port: Int, in table: String) -> [(inode: Substring, user: UInt32)] {
        guard case .success(let bytes) = FileBytes.read(table, limit: 64 << 20) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().compactMap { line in
            // sl local_address rem_address st queues timer retransmissions uid timeout inode …
            let columns = line.split(separator: " ")
            guard columns.count > 9, columns[3] == Self.listenState, let digits = columns[1].split(separator: ":").last,
                Int(digits, radix: 16) == port
            else { return nil }
            return (columns[9], UInt32(columns[7]) ?? 0)
        }
    }

    /// TCP_LISTEN of the kernel, in its table.
    private static let listenState = "0A"
}
