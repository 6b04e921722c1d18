internal import Crypto

/// Reads `PUBLIC KEY` blocks (RFC 7468 section 13).
enum PEM {
    /// DER of a SubjectPublicKeyInfo for Ed25519 up to the key's 32 bytes (RFC 8410 section 4).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// The keys of all blocks, in their order.
    static func keys(of text: [UInt8]) throws(KeyFailure) -> [VerificationKey] {
        var keys: [VerificationKey] = []
        var block: [UInt8]?
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = String(decoding: line, as: UTF8.self)
            if line == "-----BEGIN PUBLIC KEY-----" {
                block = []
            } else if line == "-----END PUBLIC KEY-----", let body = block {
                keys.append(try self.key(body))
                block = nil
            } else if line.hasPrefix("-----BEGIN ") {
                throw KeyFailure("holds a block \"\(line)\"; only BEGIN PUBLIC KEY is of use here")
            } else if block != nil {
                block?.append(contentsOf: line.utf8)
            } else {
                throw KeyFailure("is neither a JWK set nor PEM")
            }
        }
        if block != nil { throw KeyFailure("holds a PEM block without an end") }
        return keys
    }

    private static func key(_ base64: [UInt8]) throws(KeyFailure) -> VerificationKey {
        // PEM uses the alphabet of RFC 4648 section 4, padded.
        let unpadded = base64.prefix { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        guard let der = Base64URL.decode(unpadded) else { throw KeyFailure("holds a PEM block that is no base64") }
        if der.count == self.ed25519Prefix.count + 32, der.starts(with: self.ed25519Prefix),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: der.suffix(32))
        {
            return VerificationKey(id: nil, material: .eddsa(key))
        }
        guard let key = try? P256.Signing.PublicKey(derRepresentation: der) else {
            throw KeyFailure("holds a public key that is neither P-256 nor Ed25519")
        }
        return VerificationKey(id: nil, material: .es256(key))
    }
}
