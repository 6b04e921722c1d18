/// Makes PostgreSQL connection strings safe to show.
///
/// Both forms of libpq (PostgreSQL manual, section 34.1.1) are understood: `postgresql://user:PASSWORD@host/db?key=value`
/// and `key=value` pairs with quotes and escapes. Values are shown of those keys only that are known to be harmless, so
/// that a mistyped keyword, or a password with characters that should have been escaped, hides too much, never too little.
package enum ConnectionString {
    /// What stands in place of a secret.
    package static let mask = "********"

    /// The string with everything replaced that is, or may be a part of, a password.
    @Sendable package static func masked(_ text: String) -> String {
        guard let uri = self.scheme(of: text) else { return KeywordMask.masked(text) }
        return String(text[..<uri]) + self.maskedURI(text[uri...])
    }

    /// The position behind the scheme; nil when the text is no URI.
    private static func scheme(of text: String) -> String.Index? {
        let scheme = ["postgresql://", "postgres://"].first { text.hasPrefix($0) }
        return scheme.map { text.index(text.startIndex, offsetBy: $0.count) }
    }

    /// - Parameter rest: what follows the scheme.
    private static func maskedURI(_ rest: Substring) -> String {
        let head = rest.prefix { $0 != "?" }
        let query = rest[head.endIndex...].dropFirst()
        // A password with an unescaped "?" looks like a query that contains the "@". Then nobody can tell them apart.
        if query.contains("@"), head.contains(":") { return "\(head.prefix { $0 != ":" }):\(self.mask)" }
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map(self.maskedParameter)
        return self.maskedUser(head) + (query.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    private static func maskedUser(_ head: Substring) -> String {
        // A password may contain any character unescaped; everything before the last @ is user information.
        guard let end = head.lastIndex(of: "@") else { return Self.maskedHosts(head) }
        guard let colon = head[..<end].firstIndex(of: ":") else { return String(head) }
        return "\(head[...colon])\(self.mask)\(head[end...])"
    }

    /// Hosts and a database's name. What stands where a port should, and is none, is the password of somebody who forgot
    /// the host.
    private static func maskedHosts(_ head: Substring) -> String {
        let path = head.firstIndex(of: "/") ?? head.endIndex
        let hosts = head[..<path].split(separator: ",", omittingEmptySubsequences: false).map { host in
            guard !host.hasSuffix("]"), let colon = host.lastIndex(of: ":") else { return String(host) }
            let port = host[host.index(after: colon)...]
            return port.allSatisfy(\.isNumber) ? String(host) : "\(host.prefix { $0 != ":" }):\(self.mask)"
        }
        return hosts.joined(separator: ",") + head[path...]
    }

    private static func maskedParameter(_ pair: Substring) -> String {
        let key = pair.prefix { $0 != "=" }
        guard key.endIndex < pair.endIndex else { return pair.isEmpty ? "" : self.mask }
        if self.harmless.contains(String(key)) { return String(pair) }
        return self.secret.contains(String(key)) ? "\(key)=\(self.mask)" : self.mask
    }

    /// Keywords of libpq whose values hold no secret.
    static let harmless: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "connect_timeout", "client_encoding", "application_name",
        "fallback_application_name", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "channel_binding", "krbsrvname",
        "gssencmode", "service", "target_session_attrs", "load_balance_hosts", "requirepeer",
    ]

    /// Keywords that may be shown, without their values.
    static let secret: Set<String> = ["password", "sslpassword", "passfile", "options"]
}

/// Masks the `key=value` form, as libpq's own parser reads it: blanks around `=`, quotes, escapes by a backslash.
private struct KeywordMask {
    private var rest: Substring

    /// Pairs joined by one blank each. From the first thing on that is no pair, nothing is shown.
    static func masked(_ text: String) -> String {
        var reader = KeywordMask(rest: text[...])
        var shown: [String] = []
        while reader.skipBlanks() {
            guard let pair = reader.pair() else {
                shown.append(ConnectionString.mask)
                break
            }
            shown.append(pair)
        }
        return shown.joined(separator: " ")
    }

    /// False at the end.
    private mutating func skipBlanks() -> Bool {
        self.rest = self.rest.drop(while: \.isWhitespace)
        return !self.rest.isEmpty
    }

    private mutating func pair() -> String? {
        let key = String(self.rest.prefix { $0 != "=" && !$0.isWhitespace })
        self.rest = self.rest.dropFirst(key.count)
        guard self.skipBlanks(), self.rest.popFirst() == "=" else { return nil }
        _ = self.skipBlanks()
        guard let value = self.value() else { return nil }
        if ConnectionString.harmless.contains(key) { return "\(key)=\(value)" }
        return ConnectionString.secret.contains(key) ? "\(key)=\(ConnectionString.mask)" : ConnectionString.mask
    }

    /// A value as it is spelt; nil when its quote is not closed.
    private mutating func value() -> Substring? {
        let start = self.rest
        let isQuoted = self.rest.first == "'"
        if isQuoted { self.rest.removeFirst() }
        while let character = self.rest.first, isQuoted ? character != "'" : !character.isWhitespace {
            self.rest.removeFirst()
            if character == "\\" { _ = self.rest.popFirst() }
        }
        if isQuoted, self.rest.popFirst() == nil { return nil }
        return start[..<self.rest.startIndex]
    }
}
