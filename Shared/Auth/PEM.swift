internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials
internal import JWTKit

/// Parses `PUBLIC KEY` blocks (RFC 7468 section 13).
enum PEM {
    /// The keys of all blocks, in their order.
    static func keys(of text: [UInt8]) throws(KeyFailure) -> [VerificationKey] {
        var keys: [VerificationKey] = []
        var block: String?
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = String(decoding: line, as: UTF8.self)
            if line == "-----BEGIN PUBLIC KEY-----" {
                block = ""
            } else if line == "-----END PUBLIC KEY-----", let body = block {
                keys.append(VerificationKey(id: nil, material: try self.material(body)))
                block = nil
            } else if line.hasPrefix("-----BEGIN ") {
                throw KeyFailure("holds a block \"\(line)\"; only BEGIN PUBLIC KEY is of use here")
            } else if block != nil {
                block?.append(line)
            } else {
                throw KeyFailure("is neither a JWK set nor PEM")
            }
        }
        if block != nil { throw KeyFailure("holds a PEM block without an end") }
        return keys
    }

    /// The key of a block; its lines may have any length.
    private static func material(_ base64: String) throws(KeyFailure) -> VerificationKey.Material {
        guard let der = Data(base64Encoded: base64) else { throw KeyFailure("holds a PEM block that is no base64") }
        if let key = try? Curve25519.Signing.PublicKey(derRepresentation: der) {
            return .eddsa(EdDSA.PublicKey(backing: key))
        }
        guard let key = try? ES256PublicKey(backing: P256.Signing.PublicKey(derRepresentation: der)) else {
            throw KeyFailure("holds a public key that is neither P-256 nor Ed25519")
        }
        return .es256(key)
    }
}
