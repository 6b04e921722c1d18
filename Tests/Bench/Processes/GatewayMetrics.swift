import Boot
import Glibc

/// The servers' own metrics of slow readers, from `/metrics`.
package enum GatewayMetrics {
    private static let name = "touchsync_gateway_slow_members_total"

    /// Members that had to join again so far, on all servers with that metric; nil when none has it.
    static func slowMembers(_ processes: [WatchedProcess]) -> Int? {
        let told = processes.compactMap { self.page(of: $0) }.compactMap { self.value(in: $0) }
        return told.isEmpty ? nil : told.reduce(0, +)
    }

    /// The counter's value in a page of the Prometheus text format.
    package static func value(in page: String) -> Int? {
        let line = page.split(separator: "\n").first { $0.hasPrefix(self.name + " ") || $0.hasPrefix(self.name + "{") }
        return line?.split(separator: " ").last.flatMap { Double(String($0)) }.map { Int($0) }
    }

    /// Fetches `/metrics`, with a timeout of one second.
    private static func page(of process: WatchedProcess) -> String? {
        guard let address = process.metrics.flatMap({ ServerAddress($0) }), let resolved = try? ResolvedAddress(address)
        else { return nil }
        let descriptor = socket(resolved.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let token = process.operatorToken.map { "Authorization: \(OperatorAccess.field(presenting: $0))\r\n" } ?? ""
        let request = "GET /metrics HTTP/1.1\r\nHost: \(address.host)\r\n\(token)Connection: close\r\n\r\n"
        guard resolved.withPointer({ connect(descriptor, $0, $1) }) == 0,
            FileBytes.write(Array(request.utf8), to: descriptor), let page = try? FileBytes.read(descriptor).get()
        else { return nil }
        return String(decoding: page, as: UTF8.self)
    }
}
