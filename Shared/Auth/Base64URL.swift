/// base64url without padding (RFC 4648 section 5), read strictly: one text per value, so a token has one spelling.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes.
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pending = (pending << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(self.alphabet[Int(pending >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(self.alphabet[Int(pending << UInt32(6 - bits) & 63)]) }
        return text
    }

    /// Decodes; nil for a character outside the alphabet, padding included, an impossible length, and leftover bits
    /// that are not zero.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for character in text {
            guard let value = self.value(of: character) else { return nil }
            pending = (pending << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        guard pending & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) + 4
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
