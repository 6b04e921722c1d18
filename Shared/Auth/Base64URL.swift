internal import FoundationEssentials

/// base64url without padding (RFC 4648 section 5), read strictly: one text per value, so a token has one spelling.
enum Base64URL {
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Data(bytes).base64EncodedData().prefix { $0 != UInt8(ascii: "=") }.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
    }

    /// Decodes; nil for a character outside the alphabet (including padding), an impossible length, and leftover bits
    /// that are not zero.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var base64 = Data(
            text.map { character in
                switch character {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: character
                }
            })
        base64.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4))
        // If encoding the bytes yields another text, the input had another alphabet, padding or leftover bits.
        guard let bytes = Data(base64Encoded: base64), self.encode(bytes).elementsEqual(text) else { return nil }
        return Array(bytes)
    }
}
