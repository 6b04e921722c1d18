internal import Crypto
internal import CryptoExtras
internal import JSONBytes

/// Reads `PUBLIC KEY` blocks (RFC 7468 section 13), line by line.
struct PEM {
    private var keys: [VerificationKey] = []
    /// What was read of a block that has no end yet.
    private var block: String?

    /// The keys of all blocks, in their order.
    static func keys(of text: [UInt8]) throws(KeyFailure) -> [VerificationKey] {
        var pem = PEM()
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            do throws(KeyFailure) { try pem.lineRead(String(decoding: line, as: UTF8.self)) } catch {
                throw error.inLine(index + 1)
            }
        }
        if pem.block != nil { throw KeyFailure("holds a PEM block without an end") }
        return pem.keys
    }

    private mutating func lineRead(_ line: String) throws(KeyFailure) {
        if line.isEmpty { return }
        if line == "-----BEGIN PUBLIC KEY-----" {
            self.block = ""
        } else if line == "-----END PUBLIC KEY-----", let body = self.block {
            self.keys.append(try Self.key(body))
            self.block = nil
        } else if line.hasPrefix("-----BEGIN ") {
            throw KeyFailure("holds a block \"\(line)\"; only BEGIN PUBLIC KEY is of use here")
        } else if self.block != nil {
            self.block?.append(line)
        } else {
            throw KeyFailure("is neither a JWK set nor PEM")
        }
    }

    /// The key of a block; its lines may have any length.
    private static func key(_ base64: String) throws(KeyFailure) -> VerificationKey {
        guard let der = Array(base64.utf8).withUnsafeBytes({ Base64.decode($0) }) else {
            throw KeyFailure("holds a PEM block that is no base64")
        }
        if let key = try? Curve25519.Signing.PublicKey(derRepresentation: der) {
            return VerificationKey(id: nil, key)
        }
        guard let point = try? P256.Signing.PublicKey(derRepresentation: der),
            let key = VerificationKey(id: nil, point)
        else { throw KeyFailure("holds a public key that is neither P-256 nor Ed25519") }
        return key
    }
}
