internal import JSONBytes

/// Why a revocation list is refused, with the line.
package struct RevocationFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

/// Tokens that are refused although they have not expired.
///
///     {"jti":"4f1c…","reason":"a lost phone"}
///     {"sub":"ana","before":1700000000}
///
/// An entry names one token, or the tokens of a user that were issued before a time. All of a user's tokens without an
/// `iat` are refused, because none of them can prove that it is a later one. Texts are compared byte by byte.
package struct RevocationList: Sendable, Equatable {
    private var tokens: Set<[UInt8]> = []
    /// The first second at which a token must have been issued, by user.
    private var users: [[UInt8]: Int64] = [:]

    package init() {}

    /// The number of tokens and users.
    package var count: Int { self.tokens.count + self.users.count }

    /// Whether a token is revoked.
    /// - Parameter user: the token's `sub`.
    package func revokes(_ token: TokenReference, of user: String) -> Bool {
        if let id = token.id, self.tokens.contains(Array(id.utf8)) { return true }
        guard let start = self.users[Array(user.utf8)] else { return false }
        return token.issuedAt.map { $0 < start } ?? true
    }
}

extension RevocationList {
    /// Reads a list: JSON Lines, or one JSON array of entries. Further members of an entry are notes for people.
    /// - Throws: for the first entry that is malformed. Nothing is skipped: a misspelt entry would revoke nothing.
    package init(parsing text: some Collection<UInt8>) throws(RevocationFailure) {
        let bytes = Array(text)
        let first = bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
        if first == UInt8(ascii: "[") { try self.readArray(bytes) } else { try self.readLines(bytes) }
    }

    private mutating func readArray(_ bytes: [UInt8]) throws(RevocationFailure) {
        var limits = JSONLimits()
        limits.elementsPerArray = .max
        var document = JSONDocument()
        do { try document.parse(bytes, limits: limits) } catch {
            throw Self.failure(bytes.line(at: error.offset), "is no valid JSON: \(error.reason.rawValue)")
        }
        for entry in document.root.elements {
            try self.add(entry, line: bytes.line(at: entry.rawBytes.startIndex))
        }
    }

    private mutating func readLines(_ bytes: [UInt8]) throws(RevocationFailure) {
        var document = JSONDocument()
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { continue }
            do { try document.parse(line) } catch {
                throw Self.failure(index + 1, "is no valid JSON: \(error.reason.rawValue)")
            }
            try self.add(document.root, line: index + 1)
        }
    }

    private static func failure(_ line: Int, _ reason: String) -> RevocationFailure {
        RevocationFailure(description: "line \(line): \(reason)")
    }

    private mutating func add(_ entry: JSONValue, line: @autoclosure () -> Int) throws(RevocationFailure) {
        switch (entry["jti"], entry["sub"]) {
        case (let token?, nil):
            self.tokens.insert(try Self.bytes("jti", token, line()))
        case (nil, let user?):
            guard let start = entry["before"]?.integer, start > 0 else {
                throw Self.failure(line(), "before must be a whole number of seconds since 1970")
            }
            let user = try Self.bytes("sub", user, line())
            self.users[user] = max(start, self.users[user] ?? start)
        default:
            throw Self.failure(line(), #"an entry is {"jti":…} or {"sub":…,"before":…}"#)
        }
    }

    private static func bytes(
        _ name: String, _ value: JSONValue, _ line: @autoclosure () -> Int
    ) throws(RevocationFailure) -> [UInt8] {
        guard let text = value.string, !text.isEmpty else {
            throw Self.failure(line(), "\(name) must be a text")
        }
        return Array(text.utf8)
    }
}
