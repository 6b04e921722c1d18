import Testing

@testable import Auth

@Suite struct RevocationListTests {
    private static func token(_ id: String?, issuedAt: Int64?) throws -> TokenReference {
        TokenReference(id: id, issuedAt: issuedAt, key: try KeySet(secret: Golden.secret).keys[0].fingerprint)
    }

    @Test(arguments: [
        "{\"jti\":\"t1\",\"reason\":\"lost\"}\n\n {\"sub\":\"ana\",\"before\":1000}\r\n",
        #"[{"jti":"t1"},{"sub":"ana","before":1000,"note":[1]}]"#,
        "{\"sub\":\"ana\",\"before\":1000}\n{\"sub\":\"ana\",\"before\":999}\n{\"jti\":\"t1\"}",
    ])
    func tokensAndUsersAreRevoked(_ text: String) throws {
        let list = try RevocationList(parsing: text.utf8)
        #expect(list.count == 2)
        #expect(list.revokes(try Self.token("t1", issuedAt: 5000), of: "bob"))
        #expect(!list.revokes(try Self.token("t2", issuedAt: 1), of: "bob"))
        #expect(!list.revokes(try Self.token(nil, issuedAt: nil), of: "bob"))
        #expect(list.revokes(try Self.token("t2", issuedAt: 999), of: "ana"))
        #expect(!list.revokes(try Self.token("t2", issuedAt: 1000), of: "ana"))
        // It cannot prove that it is a later one.
        #expect(list.revokes(try Self.token("t2", issuedAt: nil), of: "ana"))
    }

    /// The Kelvin sign is equal to "K" as a text.
    @Test func textsAreComparedByteByByte() throws {
        let list = try RevocationList(parsing: #"[{"jti":"\u212A"},{"sub":"\u212A","before":9}]"#.utf8)
        #expect(!list.revokes(try Self.token("K", issuedAt: 1), of: "K"))
        #expect(list.revokes(try Self.token("\u{212A}", issuedAt: 10), of: "K"))
    }

    @Test func anEmptyFileRevokesNothing() throws {
        for text in ["", "\n", "[]"] { #expect(try RevocationList(parsing: text.utf8) == RevocationList()) }
    }

    @Test func aListMayBeLong() throws {
        let lines = (0..<20_000).map { #"{"jti":"t\#($0)"}"# }
        #expect(try RevocationList(parsing: lines.joined(separator: "\n").utf8).count == 20_000)
        #expect(try RevocationList(parsing: "[\(lines.joined(separator: ","))]".utf8).count == 20_000)
    }

    @Test(arguments: [
        ("{\"jti\":\"a\"}\n{", "line 2: is no valid JSON: unexpectedEnd"),
        ("[\n{\"jti\":\"a\"},\n{\"jti\":7}]", "line 3: jti must be a text"),
        ("[\n{}\n]", #"line 2: an entry is {"jti":…} or {"sub":…,"before":…}"#),
        ("[{]", "line 1: is no valid JSON: unexpectedByte"),
        (#"{"jti":"a","sub":"b","before":1}"#, #"line 1: an entry is {"jti":…} or {"sub":…,"before":…}"#),
        (#"{"sub":"b"}"#, "line 1: before must be a whole number of seconds since 1970"),
        (#"{"sub":"b","before":"1"}"#, "line 1: before must be a whole number of seconds since 1970"),
        (#"{"sub":"","before":1}"#, "line 1: sub must be a text"),
        (#"{"jit":"a"}"#, #"line 1: an entry is {"jti":…} or {"sub":…,"before":…}"#),
        ("\n7", #"line 2: an entry is {"jti":…} or {"sub":…,"before":…}"#),
    ])
    func aMistakeIsNamedWithItsLine(_ text: String, _ reason: String) {
        #expect(throws: RevocationFailure(description: reason)) { try RevocationList(parsing: text.utf8) }
    }
}
