/// Base64 with padding (RFC 4648 section 4), and base64url without (section 5). Both are read strictly: a value has one text.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in Base64.alphabet.enumerated() {
            values[Int(character)] = UInt8(truncatingIfNeeded: value)
        }
        return values
    }()

    /// The length of the encoding of `count` bytes.
    package static func encodedLength(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the encoding of `bytes`.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + Self.encodedLength(bytes.count))
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let first = UInt32(bytes[index]) << 16
            let second = left > 1 ? UInt32(bytes[index + 1]) << 8 : 0
            let third = left > 2 ? UInt32(bytes[index + 2]) : 0
            let group = first | second | third
            output.append(Self.alphabet[Int(group >> 18)])
            output.append(Self.alphabet[Int(group >> 12 & 63)])
            output.append(left > 1 ? Self.alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            output.append(left > 2 ? Self.alphabet[Int(group & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// The bytes that `text` encodes; `nil` for a wrong length, alphabet or padding, or stray bits in the last group.
    package static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return [] }
        var padding = 0
        if text[text.count - 1] == UInt8(ascii: "=") { padding = text[text.count - 2] == UInt8(ascii: "=") ? 2 : 1 }
        let digits = text.count - padding
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        for index in 0..<digits {
            let value = Self.values[Int(text[index])]
            guard value != 0xFF else { return nil }
            group = group << 6 | UInt32(value)
            guard index & 3 == 3 else { continue }
            output.append(UInt8(truncatingIfNeeded: group >> 16))
            output.append(UInt8(truncatingIfNeeded: group >> 8))
            output.append(UInt8(truncatingIfNeeded: group))
            group = 0
        }
        switch padding {
        case 1:
            guard group & 0x3 == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: group >> 10))
            output.append(UInt8(truncatingIfNeeded: group >> 2))
        case 2:
            guard group & 0xF == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: group >> 4))
        default: break
        }
        return output
    }

    /// The base64url of `bytes`.
    package static func encodeURL(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        Array(bytes).withUnsafeBytes { Self.encode($0, into: &text) }
        return text.filter { $0 != UInt8(ascii: "=") }.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
    }

    /// The bytes that a text in base64url encodes; `nil` where ``decode(_:)`` returns it, and for padding.
    package static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard: [UInt8] = []
        for character in text {
            switch character {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: standard.append(character)
            }
        }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        return standard.withUnsafeBytes { Self.decode($0) }
    }
}
