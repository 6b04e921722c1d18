internal import JSONBytes
internal import JWTKit

/// Verifies JSON Web Tokens (RFC 7519) as strictly as RFC 8725 recommends. Synchronous; the time is a parameter.
///
///     token ─► length, three segments, base64url ─► header: typ, alg ─► key by (alg, kid) ─► signature ─► claims
///
/// The payload is not parsed before the signature is verified. JWTKit verifies the signatures but not the rest, because
/// `JWTKeyCollection.verify` falls back to the default key for an unknown `kid`, compares key ids as text and not as
/// bytes, ignores `typ` and `crit`, and accepts duplicate members and non-canonical base64url.
package struct TokenVerifier: Sendable {
    /// The maximum length of a token, bytes.
    package static let longestToken = 8192
    /// The maximum length of its first segment, bytes: it is read before the signature is checked.
    private static let longestHeader = 1024

    private let keys: [(key: VerificationKey, checker: any JWTAlgorithm)]
    private let issuer: String
    private let audience: String
    /// Tolerated clock difference, s: a token is accepted until this long after its `exp`.
    package let leeway: Int64
    private let lifetime: Int64
    private let revocations: RevocationList

    /// - Parameters:
    ///   - issuer: the required `iss`, compared byte by byte.
    ///   - audience: the required `aud`, or one of its members.
    ///   - leeway: tolerated clock difference, s.
    ///   - lifetime: how long a token is valid at most, s, whatever its `exp` says: since its `iat`, or since it is
    ///     verified if it has none.
    ///   - revocations: tokens that are rejected all the same.
    package init(
        keys: KeySet, issuer: String, audience: String, leeway: Int64 = 60, lifetime: Int64 = 86_400,
        revocations: RevocationList = RevocationList()
    ) async throws {
        var checkers: [(VerificationKey, any JWTAlgorithm)] = []
        for key in keys.keys { checkers.append((key, try await key.makeChecker())) }
        self.keys = checkers
        self.issuer = issuer
        self.audience = audience
        self.leeway = leeway
        self.lifetime = lifetime
        self.revocations = revocations
    }

    /// Verifies a token.
    /// - Parameter now: seconds since 1970, UTC.
    package func verify(_ token: some Collection<UInt8>, at now: Int64) throws(TokenFailure) -> Claims {
        guard token.count <= Self.longestToken else { throw .tooLong }
        let bytes = Array(token)
        let segments = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, segments[0].count <= Self.longestHeader,
            let header = Base64.decodeURL(segments[0]), let signature = Base64.decodeURL(segments[2])
        else { throw .malformed }

        let candidates = try self.candidates(header)
        let message = Array(bytes[..<segments[1].endIndex])
        // JWTKit throws for a signature of the wrong length.
        guard let (key, _) = candidates.first(where: { (try? $0.checker.verify(signature, signs: message)) == true })
        else { throw .badSignature }

        // Only now: the claims may be long, and anybody can write some.
        guard let payload = Base64.decodeURL(segments[1]) else { throw .malformed }
        guard let payload = try? JSONValue(parsing: payload, limits: Self.limits), payload.kind == .object else {
            throw .badClaims
        }
        let claims = try self.claims(payload, signedBy: key.fingerprint, at: now)
        guard !self.revocations.revokes(claims.token, of: claims.user) else { throw .revoked }
        return claims
    }

    /// Whether a token that was verified before would still be: its key is in use and it is not revoked. Its dates are
    /// not checked.
    package func stillAccepts(_ token: TokenReference, of user: String) -> Bool {
        self.keys.contains { $0.key.fingerprint == token.key } && !self.revocations.revokes(token, of: user)
    }

    package func verify(_ token: String, at now: Int64) throws(TokenFailure) -> Claims {
        try self.verify(Array(token.utf8), at: now)
    }

    /// A token of 8 KiB may name many rooms.
    private static var limits: JSONLimits {
        var limits = JSONLimits()
        limits.depth = 8
        limits.keysPerObject = 1024
        return limits
    }

    // MARK: Header

    private func candidates(
        _ bytes: [UInt8]
    ) throws(TokenFailure) -> [(key: VerificationKey, checker: any JWTAlgorithm)] {
        guard let header = try? JSONValue(parsing: bytes, limits: Self.limits), header.kind == .object else {
            throw .badHeader
        }
        // A critical extension is never supported (RFC 7515 section 4.1.11).
        guard header["crit"] == nil else { throw .badHeader }
        guard let type = header["typ"]?.string,
            type.utf8.elementsEqual("JWT".utf8) || type.utf8.elementsEqual("jwt".utf8)
        else { throw .wrongType }
        guard let name = header["alg"]?.string,
            let algorithm = TokenAlgorithm.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) })
        else { throw .unsupportedAlgorithm }
        var id: String?
        if let member = header["kid"] {
            guard let text = member.string else { throw .badHeader }
            id = text
        }
        let candidates = self.keys.filter { $0.key.mayHaveSigned(algorithm, id: id) }
        guard !candidates.isEmpty else { throw .unknownKey }
        return candidates
    }

    // MARK: Claims

    private func claims(
        _ payload: JSONValue, signedBy key: KeyFingerprint, at now: Int64
    ) throws(TokenFailure) -> Claims {
        guard let expiry = payload["exp"], let issuer = payload["iss"], let audience = payload["aud"],
            let subject = payload["sub"]
        else { throw .missingClaim }
        let issuedAt = try payload["iat"].map(Self.seconds)
        let expiresAt = try self.end(of: payload, exp: try Self.seconds(expiry), issuedAt: issuedAt, at: now)
        guard issuer.kind == .string else { throw .badClaims }
        guard issuer.isString(self.issuer) else { throw .wrongIssuer }
        try self.check(audience: audience)
        return Claims(
            user: try Self.name(subject, longest: 128), name: try Self.shownText(payload["name"], longest: 128),
            color: try Self.shownText(payload["color"], longest: 32), rights: try Self.rights(payload["rooms"]),
            expiresAt: expiresAt,
            token: TokenReference(
                id: try payload["jti"].map { value throws(TokenFailure) in try Self.name(value, longest: 256) },
                issuedAt: issuedAt, key: key))
    }

    /// Checks the dates. They are at most 2^53 and `now` comes from a clock, so the sums cannot overflow.
    /// - Returns: when the token ends.
    private func end(
        of payload: JSONValue, exp: Int64, issuedAt: Int64?, at now: Int64
    ) throws(TokenFailure) -> Int64 {
        guard now < exp + self.leeway else { throw .expired }
        if let start = payload["nbf"], now + self.leeway < (try Self.seconds(start)) { throw .notYetValid }
        if let issuedAt {
            guard issuedAt <= now + self.leeway else { throw .notYetValid }
            guard now < issuedAt + self.lifetime + self.leeway else { throw .tooOld }
        }
        return min(exp, (issuedAt ?? now) + self.lifetime)
    }

    private func check(audience: JSONValue) throws(TokenFailure) {
        switch audience.kind {
        case .string:
            guard audience.isString(self.audience) else { throw .wrongAudience }
        case .array:
            guard audience.elements.allSatisfy({ $0.kind == .string }) else { throw .badClaims }
            guard audience.elements.contains(where: { $0.isString(self.audience) }) else { throw .wrongAudience }
        case .object, .number, .bool, .null: throw .badClaims
        }
    }

    /// A NumericDate (RFC 7519 section 2), from 0 to 2^53, rounded down.
    private static func seconds(_ value: JSONValue) throws(TokenFailure) -> Int64 {
        guard let number = value.double, number.isFinite, (0...9_007_199_254_740_992).contains(number),
            let whole = Int64(exactly: number.rounded(.down))
        else { throw .badClaims }
        return whole
    }

    /// What identifies: compared byte by byte, so that what nobody sees must not be in it.
    private static func name(_ value: JSONValue, longest: Int) throws(TokenFailure) -> String {
        let text = try self.text(value, longest: longest)
        guard !text.unicodeScalars.contains(where: \.isHidden) else { throw .badClaims }
        return text
    }

    /// What others see, without what cannot be seen.
    private static func shownText(_ value: JSONValue?, longest: Int) throws(TokenFailure) -> String? {
        guard let value else { return nil }
        return try self.text(value, longest: longest).withoutHidden
    }

    private static func text(_ value: JSONValue, longest: Int) throws(TokenFailure) -> String {
        guard let text = value.string, (1...longest).contains(text.utf8.count) else { throw .badClaims }
        return text
    }

    /// Without the claim there is no right; a malformed one makes the token invalid.
    private static func rights(_ value: JSONValue?) throws(TokenFailure) -> RoomRights {
        var rights = RoomRights()
        guard let value else { return rights }
        guard value.kind == .object else { throw .badRooms }
        for (room, level) in value.members {
            guard let room = room.string, let right = Right.allCases.first(where: { level.isString($0.rawValue) })
            else {
                throw .badRooms
            }
            rights.grant(right, room: Array(room.utf8))
        }
        return rights
    }
}
