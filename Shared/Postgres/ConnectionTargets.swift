import CLibpq

/// A parsed connection string: one list of libpq's options for each host, so that every host gets its own timeout
/// (libpq itself would wait for a dead first host for as long as TCP does).
///
/// Hosts in a service file or in PGHOST are not visible here; libpq tries those within one attempt.
struct ConnectionTargets {
    /// Option names and values for each host, in the order given.
    private(set) var targets: [[String: String]] = []
    /// `connect_timeout` of the connection string, seconds.
    private(set) var connectTimeout: Int?

    init(_ connectionString: String, defaults: [String: String]) throws(PostgresError) {
        var options = try Self.parse(connectionString)
        for (key, value) in defaults where options[key] == nil { options[key] = value }
        connectTimeout = options["connect_timeout"].flatMap(Int.init)
        let names = Self.list(options.removeValue(forKey: "host"))
        let addresses = Self.list(options.removeValue(forKey: "hostaddr"))
        let ports = Self.list(options.removeValue(forKey: "port"))
        let count = max(names.count, addresses.count, 1)
        guard [names.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }),
            ports.count <= 1 || ports.count == count
        else {
            throw PostgresError(.invalidParameter, "the numbers of hosts and ports do not match", outcome: .notExecuted)
        }
        for index in 0..<count {
            var target = options
            target["host"] = names.isEmpty || names[index].isEmpty ? nil : names[index]
            target["hostaddr"] = addresses.isEmpty || addresses[index].isEmpty ? nil : addresses[index]
            let port = ports.count == 1 ? ports[0] : ports.isEmpty ? "" : ports[index]
            target["port"] = port.isEmpty ? nil : port
            targets.append(target)
        }
    }

    /// The options of a connection string, without environment and defaults.
    static func parse(_ connectionString: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connectionString, &message) else {
            let text = message.map { LibpqText.lineWithoutQuotes(String(cString: $0)) } ?? "out of memory"
            if let message { PQfreemem(message) }
            throw PostgresError(.invalidParameter, "connection string: \(text)", outcome: .notExecuted)
        }
        defer { PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return found
    }

    /// A connection string with these options, in libpq's `key='value'` form.
    static func text(of options: [String: String]) -> String {
        options.sorted { $0.key < $1.key }.map { key, value in
            "\(key)='\(String(value.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] }))'"
        }.joined(separator: " ")
    }

    private static func list(_ value: String?) -> [String] {
        guard let value, !value.isEmpty else { return [] }
        return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// The options that detect a dead peer and identify the application.
    static func defaults(applicationName: String, requiresReadWrite: Bool) -> [String: String] {
        var options = [
            "application_name": applicationName, "client_encoding": "UTF8", "keepalives": "1", "keepalives_idle": "5",
            "keepalives_interval": "2", "keepalives_count": "3", "tcp_user_timeout": "5000",
            // Looking for Kerberos tickets may block on the network.
            "gssencmode": "disable",
        ]
        if requiresReadWrite { options["target_session_attrs"] = "read-write" }
        return options
    }
}
