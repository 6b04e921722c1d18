import Crypto
import JSONBytes
import Testing

@testable import Auth

@Suite struct TokenVerifierTests {
    private let now = Golden.issuedAt + 10

    private func verifier(_ keys: KeySet) async throws -> TokenVerifier {
        try await TokenVerifier(keys: keys, issuer: "touchsync", audience: "touchsync")
    }

    private func failure(_ token: String, at now: Int64? = nil) async throws -> TokenFailure? {
        let verifier = try await self.verifier(KeySet(secret: Golden.secret))
        do {
            _ = try verifier.verify(token, at: now ?? self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func goldenTokensOfOthersAreAccepted() async throws {
        var rights = RoomRights()
        rights.grant(.view, room: "*".utf8)
        rights.grant(.commit, room: "r1".utf8)
        func expected(_ key: VerificationKey) -> Claims {
            Claims(
                user: "ana", name: "Ana", rights: rights, expiresAt: Golden.issuedAt + 3600,
                token: TokenReference(issuedAt: Golden.issuedAt, key: key.fingerprint))
        }
        let secret = try KeySet(secret: Golden.secret).keys[0]
        let publicKeys = try KeySet(parsing: (Golden.ecPEM + Golden.edPEM).utf8).keys
        let shared = try await self.verifier(KeySet(secret: Golden.secret))
        #expect(try shared.verify(Golden.hs256, at: self.now) == expected(secret))
        let published = try await self.verifier(KeySet(parsing: Golden.jwkSet.utf8))
        #expect(try published.verify(Golden.es256, at: self.now) == expected(publicKeys[0]))
        #expect(try published.verify(Golden.eddsa, at: self.now) == expected(publicKeys[1]))
        let pem = try await self.verifier(KeySet(parsing: (Golden.ecPEM + Golden.edPEM).utf8))
        #expect(try pem.verify(Golden.eddsa, at: self.now) == expected(publicKeys[1]))
        // A PEM key has no kid, the token names one.
        #expect(throws: TokenFailure.unknownKey) { try pem.verify(Golden.es256, at: self.now) }
    }

    @Test(arguments: ["none", "None", "nOnE", "NONE", "", "HS512", "RS256", "hs256", "ES384", "HS256 "])
    func onlyThreeAlgorithmsExist(_ name: String) async throws {
        let header = #"{"alg":"\#(name)","typ":"JWT"}"#
        #expect(try await self.failure(Forgery.unsigned(header: header, Forgery.payload())) == .unsupportedAlgorithm)
        #expect(try await self.failure(Forgery.signed(header: header, Forgery.payload())) == .unsupportedAlgorithm)
    }

    @Test func anEmptyOrForeignSignatureIsRefused() async throws {
        let header = #"{"alg":"HS256","typ":"JWT"}"#
        #expect(try await self.failure(Forgery.unsigned(header: header, Forgery.payload())) == .badSignature)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(
            try await self.failure(Forgery.unsigned(header: header, Forgery.payload(), signature: zeros))
                == .badSignature)
        let other = Array("another secret of at least 32 byte".utf8)
        #expect(try await self.failure(Forgery.signed(Forgery.payload(), secret: other)) == .badSignature)
    }

    @Test func theHeaderCannotChooseWhatAKeyIsFor() async throws {
        let published = try await self.verifier(KeySet(parsing: (Golden.ecPEM + Golden.edPEM).utf8))
        #expect(throws: TokenFailure.unknownKey) { try published.verify(Golden.confused, at: self.now) }
        #expect(throws: TokenFailure.unknownKey) { try published.verify(Golden.hs256, at: self.now) }
        let both = try await self.verifier(
            KeySet(secret: Golden.secret).union(KeySet(parsing: Golden.edPEM.utf8)))
        #expect(throws: TokenFailure.badSignature) { try both.verify(Golden.confused, at: self.now) }
        for (size, algorithm) in [0, 63, 64, 65, 72].flatMap({ [($0, "ES256"), ($0, "EdDSA")] }) {
            let token = Forgery.unsigned(
                header: #"{"alg":"\#(algorithm)","typ":"JWT"}"#, Forgery.payload(),
                signature: [UInt8](repeating: 0, count: size))
            #expect(throws: TokenFailure.badSignature) { try published.verify(token, at: self.now) }
        }
    }

    @Test(arguments: ["x", "../../dev/null", "' OR 1=1 --", "", "ec1"])
    func anUnknownKeyIdIsRefused(_ id: String) async throws {
        let token = Forgery.signed(header: #"{"alg":"HS256","typ":"JWT","kid":"\#(id)"}"#, Forgery.payload())
        #expect(try await self.failure(token) == .unknownKey)
    }

    @Test(
        arguments: [
            (#"{"alg":"HS256"}"#, TokenFailure.wrongType), (#"{"alg":"HS256","typ":"at+jwt"}"#, .wrongType),
            (#"{"alg":"HS256","typ":7}"#, .wrongType), (#"{"alg":7,"typ":"JWT"}"#, .unsupportedAlgorithm),
            (#"{"typ":"JWT"}"#, .unsupportedAlgorithm), (#"{"alg":"HS256","typ":"JWT","kid":7}"#, .badHeader),
            (#"{"alg":"none","alg":"HS256","typ":"JWT"}"#, .badHeader),
            (#"{"alg":"HS256","\u0061lg":"none","typ":"JWT"}"#, .badHeader),
            (#"{"alg":"HS256","typ":"JWT","crit":["b64"],"b64":false}"#, .badHeader), ("[]", .badHeader),
            ("", .badHeader),
            (#"{"alg":"HS256","typ":"JWT"} "#, nil), (#"{"alg":"HS256","typ":"JWT"}x"#, .badHeader),
        ] as [(String, TokenFailure?)])
    func headersAreReadStrictly(_ header: String, _ expected: TokenFailure?) async throws {
        #expect(try await self.failure(Forgery.signed(header: header, Forgery.payload())) == expected)
    }

    @Test(
        arguments: [
            ("exp", nil, TokenFailure.missingClaim), ("exp", "1700000010", nil), ("exp", "1699999949", .expired),
            ("exp", "1699999950", .expired), ("exp", "1699999951", nil), ("exp", "1e999", .badClaims),
            ("exp", #""1700003600""#, .badClaims), ("exp", "null", .badClaims), ("exp", "-1", .badClaims),
            ("exp", "1e18", .badClaims), ("exp", "9007199254740992", nil), ("exp", "1700003600.5", nil),
            ("nbf", "1700000070", nil), ("nbf", "1700000071", .notYetValid), ("nbf", "true", .badClaims),
            ("iat", "1700000070", nil), ("iat", "1700000071", .notYetValid), ("iat", "1600000000", .tooOld),
            ("iss", nil, .missingClaim), ("iss", #""other""#, .wrongIssuer), ("iss", #"["touchsync"]"#, .badClaims),
            ("iss", #""TouchSync""#, .wrongIssuer), ("aud", nil, .missingClaim), ("aud", #""other""#, .wrongAudience),
            ("aud", #"["other","touchsync"]"#, nil), ("aud", "[]", .wrongAudience), ("aud", "[7]", .badClaims),
            ("sub", nil, .missingClaim), ("sub", #""""#, .badClaims), ("sub", "7", .badClaims),
            ("sub", #""a\nb""#, .badClaims), ("sub", #""a\u0085b""#, .badClaims), ("name", "7", .badClaims),
            ("rooms", #""r1""#, .badRooms), ("rooms", #""*""#, .badRooms), ("rooms", #"["r1"]"#, .badRooms),
            ("rooms", #"{"r1":"admin"}"#, .badRooms), ("rooms", #"{"r1":"Commit"}"#, .badRooms),
            ("rooms", #"{"r1":true}"#, .badRooms), ("rooms", "null", .badRooms), ("rooms", "{}", nil),
            ("rooms", nil, nil),
            ("rooms", #"{"r1":"view","r1":"commit"}"#, .badClaims),
        ] as [(String, String?, TokenFailure?)])
    func claimsAreReadStrictly(_ name: String, _ value: String?, _ expected: TokenFailure?) async throws {
        #expect(try await self.failure(Forgery.signed(Forgery.payload([(name, value)]))) == expected)
    }

    @Test func aTokenLivesNoLongerThanItsLifetime() async throws {
        let verifier = try await TokenVerifier(
            keys: KeySet(secret: Golden.secret), issuer: "touchsync", audience: "touchsync", leeway: 0, lifetime: 100)
        func end(_ changes: [(String, String?)], at now: Int64) throws -> Int64 {
            try verifier.verify(Forgery.signed(Forgery.payload(changes)), at: now).expiresAt
        }
        let issued = Golden.issuedAt
        let old = [("iat", "\(issued)"), ("exp", "9007199254740992")]
        #expect(try end(old, at: issued) == issued + 100)
        #expect(try end(old, at: issued + 99) == issued + 100)
        #expect(throws: TokenFailure.tooOld) { try end(old, at: issued + 100) }
        // Without iat it counts from the moment at which it is presented.
        #expect(try end([("exp", "9007199254740992")], at: issued + 500) == issued + 600)
        #expect(try end([("iat", "\(issued)"), ("exp", "\(issued + 50)")], at: issued) == issued + 50)
    }

    @Test func aRevokedTokenIsRefused() async throws {
        let keys = try KeySet(secret: Golden.secret)
        let list = try RevocationList(parsing: #"{"jti":"t1"}"#.utf8)
        let open = try await TokenVerifier(keys: keys, issuer: "touchsync", audience: "touchsync")
        let verifier = try await TokenVerifier(
            keys: keys, issuer: "touchsync", audience: "touchsync", revocations: list)
        let token = Forgery.signed(Forgery.payload([("jti", #""t1""#)]))
        #expect(throws: TokenFailure.revoked) { try verifier.verify(token, at: self.now) }
        _ = try verifier.verify(Forgery.signed(Forgery.payload([("jti", #""t2""#)])), at: self.now)
        #expect(throws: TokenFailure.badClaims) {
            try verifier.verify(Forgery.signed(Forgery.payload([("jti", "1")])), at: self.now)
        }
        let claims = try open.verify(token, at: self.now)
        #expect(open.stillAccepts(claims.token, of: claims.user))
        #expect(!verifier.stillAccepts(claims.token, of: claims.user))
    }

    /// What others see has no characters that they cannot see.
    @Test(
        arguments: [
            (#""Ana\u202Egnp""#, "Anagnp"), (#""A\u0001n\u0085a\u2028""#, "Ana"),
            (#""\u2066A\u200bn\uFEFFa\u2069""#, "Ana"),
            (#""\uD83D\uDC69\u200D\uD83D\uDE80 \u2764\uFE0F""#, "\u{1F469}\u{200D}\u{1F680} \u{2764}\u{FE0F}"),
            (#""\u202E""#, nil), (#""\u200D \uFE0F""#, nil), (#""\u3164""#, nil),
        ] as [(String, String?)])
    func hiddenCharactersAreRemovedFromWhatIsShown(_ json: String, _ name: String?) async throws {
        let verifier = try await self.verifier(KeySet(secret: Golden.secret))
        let claims = try verifier.verify(
            Forgery.signed(Forgery.payload([("name", json), ("color", json)])), at: self.now)
        #expect(claims.name == name && claims.color == name)
    }

    @Test(arguments: [#""a\u202Eb""#, #""a\u0085""#, #""a\u200b""#, #""\uFEFFa""#, #""a\u2028""#])
    func hiddenCharactersAreRefusedInWhatIdentifies(_ json: String) async throws {
        for claim in ["sub", "jti"] {
            #expect(try await self.failure(Forgery.signed(Forgery.payload([(claim, json)]))) == .badClaims)
        }
    }

    /// RFC 7518 section 3.4 asks no signer for the smaller of the two signatures that ECDSA has, so half of all good
    /// tokens have the larger one. Whoever turns one into the other has no second token: a token is known by its `jti`.
    @Test func bothFormsOfAnECDSASignatureAreOneToken() async throws {
        let key = P256.Signing.PrivateKey()
        let message =
            Forgery.encoded(#"{"alg":"ES256","typ":"JWT"}"#) + "."
            + Forgery.encoded(Forgery.payload([("jti", #""t1""#)]))
        let signature = Array(try key.signature(for: Array(message.utf8)).rawRepresentation)
        let other = signature.prefix(32) + Self.orderMinus(signature.suffix(32))
        let keys = try KeySet(parsing: key.publicKey.pemRepresentation.utf8)
        let verifier = try await self.verifier(keys)
        let revoking = try await TokenVerifier(
            keys: keys, issuer: "touchsync", audience: "touchsync",
            revocations: RevocationList(parsing: #"{"jti":"t1"}"#.utf8))
        for form in [signature, Array(other)] {
            let token = message + "." + String(decoding: Base64.encodeURL(form), as: UTF8.self)
            #expect(try verifier.verify(token, at: self.now).token.id == "t1")
            #expect(throws: TokenFailure.revoked) { try revoking.verify(token, at: self.now) }
        }
    }

    /// The order of P-256's group less a number of 32 bytes.
    private static func orderMinus(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let order: [UInt8] =
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + [
                0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
            ]
        var (result, borrow) = ([UInt8](), 0)
        for (digit, less) in zip(order, number).reversed() {
            let difference = Int(digit) - Int(less) - borrow
            borrow = difference < 0 ? 1 : 0
            result.insert(UInt8(truncatingIfNeeded: difference), at: 0)
        }
        return result
    }

    @Test func aTokenEndsWithItsKey() async throws {
        let both = try await self.verifier(KeySet(parsing: (Golden.ecPEM + Golden.edPEM).utf8))
        let rotated = try await self.verifier(KeySet(parsing: Golden.ecPEM.utf8))
        let claims = try both.verify(Golden.eddsa, at: self.now)
        #expect(both.stillAccepts(claims.token, of: "ana"))
        #expect(!rotated.stillAccepts(claims.token, of: "ana"))
    }

    @Test func duplicateClaimsAreRefused() async throws {
        let token = Forgery.signed(#"{"sub":"ana","sub":"bob","iss":"touchsync","aud":"touchsync","exp":1700003600}"#)
        #expect(try await self.failure(token) == .badClaims)
    }

    @Test func lengthAndSegments() async throws {
        let good = Golden.hs256
        let segments = good.split(separator: ".").map(String.init)
        #expect(try await self.failure(good + ".") == .malformed)
        #expect(try await self.failure(good + ".e30") == .malformed)
        #expect(try await self.failure(segments[0] + "." + segments[1]) == .malformed)
        #expect(try await self.failure(good + "=") == .malformed)
        #expect(try await self.failure(" " + good) == .malformed)
        #expect(try await self.failure(good + "\n") == .malformed)
        #expect(try await self.failure("") == .malformed)
        #expect(try await self.failure("..") == .badHeader)
        // The last character of 32 bytes carries two bits that must be zero: 0 and 1 decode alike elsewhere.
        #expect(good.last == "0")
        #expect(try await self.failure(good.dropLast() + "1") == .malformed)
        #expect(try await self.failure(String(repeating: "a", count: 8193)) == .tooLong)
        #expect(try await self.failure(String(repeating: "a", count: 8192)) == .malformed)
    }

    /// What anybody can write costs little: a long header is not read, and claims only behind a good signature.
    @Test func nothingLongIsReadBeforeTheSignature() async throws {
        let header = #"{"alg":"HS256","typ":"JWT","x":"\#(String(repeating: "x", count: 1000))"}"#
        #expect(try await self.failure(Forgery.signed(header: header, Forgery.payload())) == .malformed)
        let parts = Forgery.signed("no claims").split(separator: ".")
        #expect(try await self.failure("\(parts[0]).\(parts[1]).\(parts[2])") == .badClaims)
        let zeros = String(repeating: "A", count: 43)
        #expect(try await self.failure("\(parts[0]).%%%.\(zeros)") == .badSignature)
    }

    @Test func everyTruncationAndBitFlipIsRefused() async throws {
        let bytes = Array(Golden.hs256.utf8)
        let verifier = try await self.verifier(KeySet(secret: Golden.secret))
        for length in 0..<bytes.count {
            #expect(throws: TokenFailure.self, "cut to \(length)") {
                try verifier.verify(bytes[..<length], at: self.now)
            }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                #expect(throws: TokenFailure.self, "bit \(bit) of byte \(index)") {
                    try verifier.verify(flipped, at: self.now)
                }
            }
        }
    }

    @Test func roomsMatchExactly() async throws {
        let rooms = #"{"r1":"preview","\u212A":"commit","team-*":"commit","":"commit"}"#
        let token = Forgery.signed(Forgery.payload([("rooms", rooms)]))
        let rights = try await self.verifier(KeySet(secret: Golden.secret)).verify(token, at: self.now).rights
        #expect(rights.right(in: "r1") == .preview)
        for room in ["r11", "r", "R1", "*", "team-a", "K"] { #expect(rights.right(in: room) == nil, "\(room)") }
        let manyRooms = (0..<500).map { "\"room-\($0)\":\"view\"" }.joined(separator: ",")
        let many = Forgery.signed(
            Forgery.payload([
                ("rooms", "{\(manyRooms.prefix(5600).split(separator: ",").dropLast().joined(separator: ","))}")
            ]))
        #expect(try await self.failure(many) == nil)
    }

    /// Whatever another tenant calls its rooms, and however many there are: a right is one in exactly the rooms named.
    @Test func roomsOfOthersAreNotReached() async throws {
        for rooms in [#""r1""#, #""*""#, #"["*"]"#, #"{"*":"*"}"#] {
            #expect(try await self.failure(Forgery.signed(Forgery.payload([("rooms", rooms)]))) == .badRooms)
        }
        let hundredThousand = (0..<100_000).map { "\"r\($0)\":\"view\"" }.joined(separator: ",")
        let huge = Forgery.signed(Forgery.payload([("rooms", "{\(hundredThousand)}")]))
        // By its length alone: nothing of it is read.
        #expect(try await self.failure(huge) == .tooLong)
        #expect(try await self.failure(String(repeating: "A", count: huge.utf8.count)) == .tooLong)
        let names = [
            "__proto__", "constructor", "toString", "acme", "acme:", "acme.*", "ACME:plan", "acme:pla", "%61cme:plan",
        ]
        let rooms = names.map { "\"\($0)\":\"commit\"" }.joined(separator: ",")
        let rights = try await self.verifier(KeySet(secret: Golden.secret))
            .verify(Forgery.signed(Forgery.payload([("rooms", "{\(rooms)}")])), at: self.now).rights
        for name in names { #expect(rights.right(in: name) == .commit, "\(name)") }
        for room in ["acme:plan", "acme:plans", "prototype", "valueOf", "hasOwnProperty", "*", ""] {
            #expect(rights.right(in: room) == nil, "\(room)")
        }
    }

    @Test func rightsIncludeThoseBefore() {
        #expect(Right.view < .preview && .preview < .commit)
        var rights = RoomRights()
        rights.grant(.commit, room: "*".utf8)
        rights.grant(.view, room: "r1".utf8)
        #expect(rights.right(in: "r1") == .view)
        #expect(rights.right(in: "r2") == .commit)
    }
}
