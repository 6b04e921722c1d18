internal import Glibc

/// The service manager that started this process: systemd, or one with the same protocol (sd_notify(3)).
///
/// A message is one datagram of lines to the Unix socket that NOTIFY_SOCKET names:
///
///     READY=1      the daemon is ready, as /readyz says
///     STATUS=…     whether it is ready, or why not; shown by systemctl status
///     WATCHDOG=1   every loop has turned since the last such message, if the manager has a watchdog for this process
///     STOPPING=1   the drain has started
///
/// Not by libsystemd: every daemon would depend on it for one system call. A message that cannot be sent is lost, because
/// a manager that does not read must not stop a loop.
final class ServiceManager: Sendable {
    /// True when the manager ends this process unless it hears `WATCHDOG=1` from time to time (sd_watchdog_enabled(3)).
    let isWatching: Bool

    private let socket: Int32
    private let address: sockaddr_un
    private let addressLength: socklen_t

    /// - Parameter environment: the process's; NOTIFY_SOCKET is a path, or `@` and an abstract name (unix(7)).
    /// - Returns: nil when no manager asks for messages, or the address cannot be used.
    init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], let (address, length) = Self.address(name) else { return nil }
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { return nil }
        self.socket = socket
        self.address = address
        self.addressLength = length
        let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        self.isWatching = isForUs && (environment["WATCHDOG_USEC"].flatMap(UInt64.init) ?? 0) > 0
    }

    deinit { close(self.socket) }

    /// Reports readiness, or what it waits for.
    func healthChanged(_ health: HealthState) {
        if health.isReady {
            self.send("READY=1\nSTATUS=Ready.")
        } else {
            let reasons = health.reasons.map { "\($0.check): \($0.text)" }.joined(separator: "; ")
            self.send("STATUS=Not ready: \(Self.line(reasons))")
        }
    }

    func loopsTurned() {
        if self.isWatching { self.send("WATCHDOG=1") }
    }

    func stopping() { self.send("STOPPING=1") }

    private func send(_ message: String) {
        let bytes = Array(message.utf8)
        withUnsafeBytes(of: self.address) { address in
            let target = address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            _ = sendto(self.socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), target, self.addressLength)
        }
    }

    /// A text as part of one line: a line of its own would be another message to the manager.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }

    private static func address(_ name: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        switch bytes.first {
        case UInt8(ascii: "/"): bytes.append(0)
        // An abstract name follows a zero byte, and ends where the address does.
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + bytes.count } ?? 0
        return (address, socklen_t(length))
    }
}
