internal import JWTKit

/// The algorithms of signatures (RFC 7518 section 3.1, RFC 8037 section 3.1). There is no `none`.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    /// HMAC with SHA-256 and a shared secret.
    case hs256 = "HS256"
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// Ed25519.
    case eddsa = "EdDSA"
}

/// Why a key cannot be used; a reason to refuse to start. Never contains key material.
package struct KeyFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The same with the line of the file in front.
    func inLine(_ line: Int) -> KeyFailure { KeyFailure("line \(line): \(self.description)") }
}

/// The verification keys: at most 32.
package struct KeySet: Sendable, Equatable {
    /// The maximum number of keys in a set.
    package static let limit = 32
    /// The minimum length of an HS256 secret, bytes (RFC 7518 section 3.2).
    package static let shortestSecret = 32

    private(set) var keys: [VerificationKey] = []

    init(_ keys: [VerificationKey]) throws(KeyFailure) {
        for key in keys { try self.add(key) }
    }

    /// A set of one shared secret.
    /// - Throws: when the secret is shorter than 32 bytes, or is the text of a public key: everyone with that key could
    ///   sign with it.
    package init(secret: some Collection<UInt8>) throws(KeyFailure) {
        try self.add(try VerificationKey(id: nil, secret: secret))
    }

    /// Reads public keys: PEM blocks (`PUBLIC KEY`, P-256 or Ed25519, without `kid`), or a JWK set (RFC 7517 section 5)
    /// of EC P-256, OKP Ed25519 and oct keys.
    /// - Throws: when a key is of another kind, private, too short, or its `kid` is not unique, with the line where there is
    ///   one. Nothing is skipped.
    package init(parsing text: some Collection<UInt8>) throws(KeyFailure) {
        let bytes = Array(text)
        let first = bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
        let keys = first == UInt8(ascii: "{") ? try JWKSet.keys(of: bytes) : try PEM.keys(of: bytes)
        guard !keys.isEmpty else { throw KeyFailure("holds no key") }
        try self.init(keys)
    }

    package var count: Int { self.keys.count }

    /// The keys of both sets.
    package func union(_ other: KeySet) throws(KeyFailure) -> KeySet {
        try KeySet(self.keys + other.keys)
    }

    private mutating func add(_ key: VerificationKey) throws(KeyFailure) {
        if let id = key.id, self.keys.contains(where: { $0.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }) {
            throw KeyFailure("the kid \"\(id)\" stands twice")
        }
        guard self.keys.count < Self.limit else { throw KeyFailure("holds more than \(Self.limit) keys") }
        self.keys.append(key)
    }

    static func symmetric(_ secret: some Collection<UInt8>) throws(KeyFailure) -> HMACKey {
        guard secret.count >= Self.shortestSecret else {
            throw KeyFailure(
                "an HS256 secret needs at least \(Self.shortestSecret) bytes, this one has \(secret.count)")
        }
        guard !secret.starts(with: "-----BEGIN ".utf8) else {
            throw KeyFailure("this is the text of a PEM key; a shared secret must be known to nobody else")
        }
        return HMACKey(from: Array(secret))
    }
}
