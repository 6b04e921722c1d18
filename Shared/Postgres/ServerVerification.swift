/// Whether clients would notice that somebody else answers in place of their PostgreSQL server.
package enum ServerVerification {
    /// The hosts that are connected to over TCP without `sslmode=verify-full`: libpq then does not verify that the server
    /// is the one of that name (libpq 34.19.3). Loopback is among them; UNIX sockets are not.
    /// - Parameters:
    ///   - connectionString: a URI or `key=value`.
    ///   - environment: its PGHOST, PGHOSTADDR and PGSSLMODE stand in for what the string does not say.
    /// - Throws: when libpq cannot read the string.
    package static func unverifiedHosts(
        _ connectionString: String, environment: [String: String]
    ) throws(PostgresError) -> [String] {
        var defaults: [String: String] = [:]
        for (option, variable) in [("host", "PGHOST"), ("hostaddr", "PGHOSTADDR"), ("sslmode", "PGSSLMODE")] {
            defaults[option] = environment[variable]
        }
        return try ConnectionTargets(connectionString, defaults: defaults).targets.compactMap { target in
            guard target["sslmode"] != "verify-full" else { return nil }
            // An address takes precedence; a name that begins with a slash or an @ is a socket's (libpq 34.1.2).
            let host = target["host"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? nil : $0 }
            return host ?? target["hostaddr"]
        }
    }
}
