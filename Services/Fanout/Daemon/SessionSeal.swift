internal import Crypto
package import FanoutCore
internal import JSONBytes
package import Wire

/// Names sessions and signs them, so that a foreign or made-up secret is rejected without the database.
///
///     public name  sid    = 48 bits of milliseconds since 1970 │ 40 random bits, as 15 characters that sort by time
///     secret              = sid "." mac
///                  mac    = first 16 bytes of HMAC-SHA256(key, room │ 0 │ sid │ 0 │ user), as 22 characters
package struct SessionSeal: Sendable {
    private let key: SymmetricKey

    /// A seal with the database's key in hexadecimal digits; nil when that is no key.
    package init?(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var digits = text.utf8.makeIterator()
        while let high = digits.next() {
            guard let low = digits.next(), hexDigit(high) < 16, hexDigit(low) < 16 else { return nil }
            bytes.append(hexDigit(high) << 4 | hexDigit(low))
        }
        guard bytes.count >= 16 else { return nil }
        self.key = SymmetricKey(data: bytes)
    }

    /// A new session.
    /// - Parameters:
    ///   - milliseconds: since 1970; names of later sessions sort behind, nothing else depends on it.
    ///   - random: 40 bits of it are used.
    package func issue(
        room: Identifier, user: Identifier, milliseconds: UInt64, random: UInt64
    ) -> (sid: Identifier, secret: String) {
        var bytes: [UInt8] = []
        for shift in stride(from: UInt64(40), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: milliseconds >> shift))
        }
        for shift in stride(from: UInt64(32), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: random >> shift))
        }
        let sid = Identifier(Self.text(bytes))
        return (sid, "\(sid).\(Self.text(self.mac(room, sid, user)))")
    }

    /// The public name in a secret; nil unless this key signed it for the room and user.
    package func verify(_ secret: String, room: Identifier, user: Identifier) -> Identifier? {
        let parts = secret.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = String(parts[0]), !name.isEmpty else { return nil }
        let sid = Identifier(name)
        let expected = Array(Self.text(self.mac(room, sid, user)).utf8)
        guard parts[1].count == expected.count else { return nil }
        // In constant time, which reveals nothing about how much was right.
        let difference = zip(parts[1], expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? sid : nil
    }

    /// The seal as the core uses it, with the wall clock and the system's randomness.
    package func issuer(milliseconds: @escaping @Sendable () -> UInt64) -> SessionIssuer {
        SessionIssuer(
            issue: { room, user in
                self.issue(room: room, user: user, milliseconds: milliseconds(), random: .random(in: 0 ... .max))
            },
            verify: { secret, room, user in self.verify(secret, room: room, user: user) })
    }

    private func mac(_ room: Identifier, _ sid: Identifier, _ user: Identifier) -> [UInt8] {
        var hmac = HMAC<SHA256>(key: self.key)
        hmac.update(data: Array(room.text.utf8) + [0])
        hmac.update(data: Array(sid.text.utf8) + [0])
        hmac.update(data: Array(user.text.utf8))
        return Array(hmac.finalize().prefix(16))
    }

    /// The 64 characters of base64url in the order of their codes, so that texts sort as the bytes do.
    private static let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

    private static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            pending = (pending << 8 | UInt32(byte)) & 0xffff
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(self.alphabet[Int(pending >> bits & 63)])
            }
        }
        if bits > 0 { text.append(self.alphabet[Int(pending << (6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
