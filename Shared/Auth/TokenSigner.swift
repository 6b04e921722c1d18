internal import Crypto
internal import JSONBytes

/// Makes tokens that ``TokenVerifier`` accepts: for trying out, for tests, and for back ends written in Swift.
package struct TokenSigner: Sendable {
    private enum Key: Sendable {
        case hs256(SymmetricKey)
        case es256(P256.Signing.PrivateKey)
        case eddsa(Curve25519.Signing.PrivateKey)
    }

    private let key: Key
    private let id: String?

    /// Signs with HS256.
    /// - Parameters:
    ///   - secret: at least 32 bytes.
    ///   - id: the `kid` to name, if the verifier's key has one.
    package init(secret: some Collection<UInt8>, id: String? = nil) throws(KeyFailure) {
        self.key = .hs256(try KeySet.symmetric(secret))
        self.id = id
    }

    /// Signs with ES256.
    /// - Parameter p256: the private key's 32 bytes.
    package init(p256 raw: some Collection<UInt8>, id: String? = nil) throws(KeyFailure) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(raw)) else {
            throw KeyFailure("is no private key of P-256")
        }
        self.key = .es256(key)
        self.id = id
    }

    /// Signs with EdDSA.
    /// - Parameter ed25519: the private key's 32 bytes.
    package init(ed25519 raw: some Collection<UInt8>, id: String? = nil) throws(KeyFailure) {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Array(raw)) else {
            throw KeyFailure("is no private key of Ed25519")
        }
        self.key = .eddsa(key)
        self.id = id
    }

    private var algorithm: TokenAlgorithm {
        switch self.key {
        case .hs256: .hs256
        case .es256: .es256
        case .eddsa: .eddsa
        }
    }

    /// A token.
    /// - Parameters:
    ///   - rooms: room ids, or `*`, with the right in each.
    ///   - now: seconds since 1970, UTC; becomes `iat`.
    ///   - lifetime: seconds until `exp`.
    package func token(
        user: String, name: String? = nil, color: String? = nil, rooms: [(id: String, right: Right)], issuer: String,
        audience: String, at now: Int64, lifetime: Int64
    ) throws -> String {
        var payload = JSONWriter()
        payload.beginObject()
        payload.key("sub")
        payload.value(user)
        if let name {
            payload.key("name")
            payload.value(name)
        }
        if let color {
            payload.key("color")
            payload.value(color)
        }
        payload.key("rooms")
        payload.beginObject()
        for room in rooms {
            payload.key(string: room.id)
            payload.value(room.right.rawValue)
        }
        payload.endObject()
        payload.key("iss")
        payload.value(issuer)
        payload.key("aud")
        payload.value(audience)
        payload.key("iat")
        payload.value(now)
        payload.key("exp")
        payload.value(now.addingReportingOverflow(lifetime).partialValue)
        payload.endObject()
        return try self.token(payload: payload.bytes)
    }

    /// A token with a payload of the caller's own.
    /// - Parameter payload: the JSON text, signed as it is.
    package func token(payload: [UInt8]) throws -> String {
        var header = JSONWriter()
        header.beginObject()
        header.key("alg")
        header.value(self.algorithm.rawValue)
        header.key("typ")
        header.value("JWT")
        if let id {
            header.key("kid")
            header.value(id)
        }
        header.endObject()
        let message = Base64URL.encode(header.bytes) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
        let signature: [UInt8]
        switch self.key {
        case .hs256(let key): signature = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        case .es256(let key): signature = Array(try key.signature(for: message).rawRepresentation)
        case .eddsa(let key): signature = Array(try key.signature(for: message))
        }
        return String(decoding: message + [UInt8(ascii: ".")] + Base64URL.encode(signature), as: UTF8.self)
    }
}
