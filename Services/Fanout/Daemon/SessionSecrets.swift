internal import Crypto
internal import FanoutCore
internal import Wire

/// Makes and recognises sessions with a key that all fan-outs share through the database.
///
/// The public name is the time and randomness: 48 bits of milliseconds and 40 random bits in base 36. The secret is the
/// name, a dot and 16 bytes of HMAC-SHA256 (RFC 2104) over room, name and user, each ended by a zero byte, so that a
/// session is told from a made-up or foreign one without asking the database.
enum SessionSecrets {
    /// An issuer with this key.
    static func issuer(key: [UInt8]) -> SessionIssuer {
        let key = SymmetricKey(data: key)
        return SessionIssuer(
            issue: { room, user in
                let sid = Self.newName()
                return (sid, "\(sid.text).\(Self.hex(Self.code(key, room, sid, user)))")
            },
            verify: { secret, room, user in
                guard let dot = secret.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
                let sid = Identifier(String(secret[..<dot]))
                let given = Self.bytes(hex: secret[secret.index(after: dot)...].utf8)
                return Self.isEqual(given, Self.code(key, room, sid, user)) ? sid : nil
            })
    }

    private static func code(_ key: SymmetricKey, _ room: Identifier, _ sid: Identifier, _ user: Identifier) -> [UInt8]
    {
        var hmac = HMAC<SHA256>(key: key)
        for name in [room, sid, user] {
            hmac.update(data: Array(name.text.utf8))
            hmac.update(data: [0])
        }
        return Array(hmac.finalize().prefix(16))
    }

    private static func newName() -> Identifier {
        let time = String(RealTime.milliseconds() & 0xffff_ffff_ffff, radix: 36)
        let chance = String(UInt64.random(in: 1 << 35..<1 << 40), radix: 36)
        return Identifier(time + chance)
    }

    /// Compares without telling by the time it takes where the difference is.
    private static func isEqual(_ left: [UInt8]?, _ right: [UInt8]) -> Bool {
        guard let left, left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Nil for anything but pairs of hex digits.
    static func bytes(hex: some Collection<UInt8>) -> [UInt8]? {
        guard hex.count.isMultiple(of: 2), hex.count <= 256 else { return nil }
        let digits = Array(hex)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16),
                digits[index] != UInt8(ascii: "+")
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
