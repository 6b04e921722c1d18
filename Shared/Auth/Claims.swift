/// The claims of a verified token.
package struct Claims: Sendable, Equatable {
    /// `sub`: the user's id, 1 to 128 bytes without hidden characters.
    package var user: String
    /// `name`: what others see, at most 128 bytes, without the hidden characters that it had.
    package var name: String?
    /// `color`: likewise, at most 32 bytes.
    package var color: String?
    /// `rooms`.
    package var rights: RoomRights
    /// The first second, since 1970 and in UTC, at which the token is no longer valid: its `exp`, or the end of the
    /// lifetime of tokens, if that is earlier.
    package var expiresAt: Int64
    package var token: TokenReference
}

/// What a gateway remembers of an admitted token, to decide later whether it would still be admitted.
package struct TokenReference: Sendable, Equatable {
    /// `jti`.
    package var id: String?
    /// `iat`: when it was issued, seconds since 1970, UTC.
    package var issuedAt: Int64?
    /// The key that signed it.
    package var key: KeyFingerprint
}

/// Why a token is rejected. The raw value is a code for logs and metrics; clients must only learn that it was rejected.
package enum TokenFailure: String, Error, Sendable, CaseIterable {
    /// More than 8192 bytes.
    case tooLong = "too_long"
    /// Not three segments of canonical unpadded base64url (RFC 7515 section 2, RFC 4648 section 3.5).
    case malformed
    /// The header is not a JSON object with unique members, or names a critical extension.
    case badHeader = "bad_header"
    /// `typ` is missing or not `JWT` (RFC 8725 section 3.11).
    case wrongType = "wrong_type"
    /// `alg` is none of HS256, ES256, EdDSA, in exactly this spelling.
    case unsupportedAlgorithm = "unsupported_algorithm"
    /// No key has that `kid` and that algorithm.
    case unknownKey = "unknown_key"
    case badSignature = "bad_signature"
    /// The payload is not a JSON object with unique members, or a claim has the wrong type.
    case badClaims = "bad_claims"
    /// `exp`, `iss`, `aud` or `sub` is missing.
    case missingClaim = "missing_claim"
    /// Past `exp`.
    case expired
    /// Before `nbf`, or issued (`iat`) in the future.
    case notYetValid = "not_yet_valid"
    /// Issued (`iat`) longer ago than the lifetime of tokens.
    case tooOld = "too_old"
    /// `iss` is not the expected issuer.
    case wrongIssuer = "wrong_issuer"
    /// `aud` does not contain the expected audience.
    case wrongAudience = "wrong_audience"
    /// The revocation list names it, or its user.
    case revoked
    /// `rooms` is not an object of room ids with the values view, preview and commit.
    case badRooms = "bad_rooms"

    package var code: String { self.rawValue }
}
