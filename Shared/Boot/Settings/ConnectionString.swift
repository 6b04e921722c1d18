/// Makes PostgreSQL connection strings safe to show.
package enum ConnectionString {
    /// The string with its passwords replaced: in `scheme://user:PASSWORD@host`, as `password=…` in a query, and as the
    /// `password` keyword (libpq 34.1.1). A keyword string with quotes is masked completely, to be on the safe side.
    @Sendable package static func masked(_ text: String) -> String {
        guard let scheme = text.range(ofFirst: "://") else {
            return text.contains("'") || text.contains("\\") || !text.contains("=")
                ? "********" : self.maskPairs(text, separator: " ")
        }
        let head = text[..<scheme]
        let rest = text[text.index(scheme, offsetBy: 3)...]
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        // A password may contain any of these unescaped; everything before the last @ is user information.
        let userEnd = rest.lastIndex(of: "@")
        var shown = head + "://"
        var tail = rest
        if let userEnd {
            let user = rest[..<userEnd]
            shown += user.prefix { $0 != ":" }
            shown += user.contains(":") ? ":********@" : "@"
            tail = rest[rest.index(after: userEnd)...]
        } else {
            shown += rest[..<authorityEnd]
            tail = rest[authorityEnd...]
        }
        guard let query = tail.firstIndex(of: "?") else { return String(shown + tail) }
        return String(shown) + tail[...query]
            + self.maskPairs(String(tail[tail.index(after: query)...]), separator: "&")
    }

    private static func maskPairs(_ text: String, separator: Character) -> String {
        text.split(separator: separator, omittingEmptySubsequences: false).map { pair in
            let key = pair.prefix { $0 != "=" }
            let isSecret = ["password", "sslpassword", "passfile"].contains(key.lowercased())
            return isSecret ? "\(key)=********" : String(pair)
        }.joined(separator: String(separator))
    }
}

extension String {
    /// The start of the first occurrence of an ASCII needle.
    fileprivate func range(ofFirst needle: String) -> String.Index? {
        var index = self.startIndex
        while index < self.endIndex {
            if self[index...].hasPrefix(needle) { return index }
            index = self.index(after: index)
        }
        return nil
    }
}
