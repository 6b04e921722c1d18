internal import Crypto
internal import JSONBytes

/// Reads JSON Web Key sets (RFC 7517, RFC 7518 section 6, RFC 8037 section 2).
///
/// JWTKit is not used: its sets support neither shared secrets nor `use`, reject keys without a `kid`, and let the
/// second of two members or keys of one name silently replace the first.
enum JWKSet {
    /// The keys of a set, in its order.
    static func keys(of text: [UInt8]) throws(KeyFailure) -> [VerificationKey] {
        var document = JSONDocument()
        do {
            try document.parse(text)
        } catch {
            throw KeyFailure("is no valid JSON: \(error.reason.rawValue)").inLine(text.line(at: error.offset))
        }
        guard let list = document.root["keys"], list.kind == .array else {
            throw KeyFailure("has no array \"keys\"; a JWK set looks like {\"keys\":[…]}")
        }
        var keys: [VerificationKey] = []
        for (index, entry) in list.elements.enumerated() {
            do throws(KeyFailure) {
                keys.append(try self.key(entry))
            } catch {
                throw KeyFailure("key \(index) \(error.description)").inLine(text.line(at: entry.rawBytes.startIndex))
            }
        }
        return keys
    }

    private static func key(_ entry: JSONValue) throws(KeyFailure) -> VerificationKey {
        guard let type = entry["kty"]?.string else { throw KeyFailure("has no kty") }
        if entry["d"] != nil { throw KeyFailure("is a private key; give the public part only") }
        if let use = entry["use"], !use.isString("sig") { throw KeyFailure("is not for signatures") }
        var id: String?
        if let member = entry["kid"] {
            guard let text = member.string, (1...256).contains(text.utf8.count) else {
                throw KeyFailure("has a kid that is no text of 1 to 256 bytes")
            }
            id = text
        }
        let key = try self.key(type, entry, id: id)
        if let algorithm = entry["alg"], !algorithm.isString(key.algorithm.rawValue) {
            throw KeyFailure("is for another algorithm than \(key.algorithm.rawValue)")
        }
        return key
    }

    private static func key(_ type: String, _ entry: JSONValue, id: String?) throws(KeyFailure) -> VerificationKey {
        switch (type, entry["crv"]?.string) {
        case ("EC", "P-256"):
            let point = try self.bytes("x", of: entry, count: 32) + self.bytes("y", of: entry, count: 32)
            guard let point = try? P256.Signing.PublicKey(rawRepresentation: point),
                let key = VerificationKey(id: id, point)
            else { throw KeyFailure("is no point of P-256") }
            return key
        case ("OKP", "Ed25519"):
            let point = try self.bytes("x", of: entry, count: 32)
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: point) else {
                throw KeyFailure("is no Ed25519 key")
            }
            return VerificationKey(id: id, key)
        case ("oct", _):
            return try VerificationKey(id: id, secret: try self.bytes("k", of: entry, count: nil))
        default:
            throw KeyFailure("is of a kind that is not supported; use EC P-256, OKP Ed25519 or oct")
        }
    }

    private static func bytes(_ name: String, of entry: JSONValue, count: Int?) throws(KeyFailure) -> [UInt8] {
        guard let text = entry[name]?.string, let bytes = Base64.decodeURL(Array(text.utf8)),
            count == nil || bytes.count == count
        else { throw KeyFailure("has no valid \"\(name)\"") }
        return bytes
    }
}
