internal import Crypto
internal import JWTKit

/// Identifies a key by what it consists of: the same key in another file, or under another `kid`, has the same one.
package struct KeyFingerprint: Sendable, Hashable {
    private let digest: [UInt8]

    fileprivate init(_ algorithm: TokenAlgorithm, _ key: some Collection<UInt8>) {
        self.digest = Array(SHA256.hash(data: Array(algorithm.rawValue.utf8) + [0] + Array(key)))
    }
}

/// One verification key, bound to its algorithm: the token's header cannot choose another.
struct VerificationKey: Sendable, Equatable {
    private enum Material: Sendable {
        case hs256(HMACKey)
        case es256(ES256PublicKey)
        case eddsa(EdDSA.PublicKey)
    }

    /// `kid`; a key without one is used for tokens without one.
    let id: String?
    let algorithm: TokenAlgorithm
    let fingerprint: KeyFingerprint
    private let material: Material

    init(id: String?, secret: some Collection<UInt8>) throws(KeyFailure) {
        self.init(id: id, .hs256, Array(secret), .hs256(try KeySet.symmetric(secret)))
    }

    /// A public key of P-256; nil when it is no such key.
    init?(id: String?, _ key: P256.Signing.PublicKey) {
        guard let material = try? ES256PublicKey(backing: key) else { return nil }
        self.init(id: id, .es256, key.rawRepresentation, .es256(material))
    }

    init(id: String?, _ key: Curve25519.Signing.PublicKey) {
        self.init(id: id, .eddsa, key.rawRepresentation, .eddsa(EdDSA.PublicKey(backing: key)))
    }

    private init(
        id: String?, _ algorithm: TokenAlgorithm, _ bytes: some Collection<UInt8>, _ material: Material
    ) {
        self.id = id
        self.algorithm = algorithm
        self.fingerprint = KeyFingerprint(algorithm, bytes)
        self.material = material
    }

    static func == (left: VerificationKey, right: VerificationKey) -> Bool {
        left.id == right.id && left.fingerprint == right.fingerprint
    }

    /// True for tokens of its algorithm with exactly its `kid`, or without a `kid`.
    func mayHaveSigned(_ algorithm: TokenAlgorithm, id: String?) -> Bool {
        guard self.algorithm == algorithm else { return false }
        guard let id else { return true }
        return self.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false
    }

    /// Creates the checker of signatures for this key. JWTKit provides it through a collection, which is an actor; the
    /// checker is synchronous and immutable, so it is created once.
    func makeChecker() async throws -> any JWTAlgorithm {
        let collection = JWTKeyCollection()
        switch self.material {
        case .hs256(let key): await collection.add(hmac: key, digestAlgorithm: .sha256)
        case .es256(let key): await collection.add(ecdsa: key)
        case .eddsa(let key): await collection.add(eddsa: key)
        }
        return try await collection.getKey()
    }
}
