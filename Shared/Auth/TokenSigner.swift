internal import JWTKit

/// Signs HS256 tokens that ``TokenVerifier`` accepts, for testing.
package struct TokenSigner: Sendable {
    private let keys: JWTKeyCollection

    /// - Parameter secret: at least 32 bytes.
    package init(secret: some Collection<UInt8>) async throws(KeyFailure) {
        self.keys = await JWTKeyCollection().add(hmac: try KeySet.symmetric(secret), digestAlgorithm: .sha256)
    }

    /// A token.
    /// - Parameters:
    ///   - id: becomes `jti`, by which the token can be revoked; nil: it has none.
    ///   - rooms: room ids, or `*`, with the right in each; the last right of a repeated id wins.
    ///   - now: seconds since 1970, UTC; becomes `iat`.
    ///   - lifetime: seconds until `exp`.
    package func token(
        id: String? = nil, user: String, name: String? = nil, color: String? = nil, rooms: [(id: String, right: Right)],
        issuer: String,
        audience: String, at now: Int64, lifetime: Int64
    ) async throws -> String {
        let rooms = Dictionary(rooms.map { ($0.id, $0.right.rawValue) }) { $1 }
        return try await self.keys.sign(
            SignedClaims(
                jti: id, sub: user, name: name, color: color, rooms: rooms, iss: issuer, aud: audience, iat: now,
                exp: now.addingReportingOverflow(lifetime).partialValue))
    }
}

/// The claims of a token to be signed, by their names in it.
private struct SignedClaims: JWTPayload {
    let jti: String?
    let sub: String
    let name: String?
    let color: String?
    let rooms: [String: String]
    let iss: String
    let aud: String
    let iat: Int64
    let exp: Int64

    /// Does nothing: tokens are verified by ``TokenVerifier``.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
