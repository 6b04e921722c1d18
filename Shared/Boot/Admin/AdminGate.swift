internal import SocketIO

/// Whom an admin server answers: requests that address it by one of its names, for everything but open pages with the
/// operator's token.
struct AdminGate: Sendable {
    private let hosts: HostPolicy
    private let access: OperatorAccess
    private let wrongHosts: Counter
    private let refusals: CounterFamily<OperatorAccess.Refusal>

    /// - Parameter host: the address that the server listens on.
    init(host: String, access: OperatorAccess, metrics: MetricsRegistry) {
        self.hosts = HostPolicy(listeningOn: host)
        self.access = access
        let (name, help) = ("touchsync_admin_refusals_total", "Requests to the admin server that were refused.")
        self.wrongHosts = metrics.counter(name, help, labels: ["reason": "host"])
        self.refusals = metrics.counters(name, help, label: "reason", of: OperatorAccess.Refusal.self)
    }

    /// The answer to a request that is refused, and counted; nil for one that is let through.
    /// - Parameters:
    ///   - isOpen: whether the page needs no token.
    ///   - hosts: the values of its Host fields.
    ///   - authorizations: the values of its Authorization fields.
    func refusal(isOpen: Bool, hosts: [String], authorizations: [String]) -> AdminPage? {
        guard self.hosts.admits(host: hosts.count == 1 ? Array(hosts[0].utf8)[...] : nil) else {
            self.wrongHosts.add()
            // Misdirected Request (RFC 9110 section 15.5.20).
            return AdminPage(status: 421, body: "The admin server has no such name.\n".utf8)
        }
        guard !isOpen else { return nil }
        let field = authorizations.count == 1 ? authorizations[0] : nil
        guard let refusal = self.access.refusal(authorization: field) else { return nil }
        self.refusals[refusal].add()
        return AdminPage(status: refusal.status, body: "\(refusal.text)\n".utf8)
    }
}
