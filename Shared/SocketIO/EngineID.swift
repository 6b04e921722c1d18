/// An unguessable id of 120 random bits, written as 20 characters of base64url.
///
/// The bits, not the text, are kept: 16 bytes a session, compared and hashed as two words.
public struct EngineID: Hashable, Sendable {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    public static let length = 20

    private let high: UInt64
    private let low: UInt64

    /// Draws an id.
    public init(using generator: inout some RandomNumberGenerator) {
        self.high = generator.next() >> 4
        self.low = generator.next() >> 4
    }

    /// Reads the text of an id; `nil` if it is none. Each id has exactly one text.
    public init?(_ text: some Collection<UInt8>) {
        guard text.count == Self.length else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (index, character) in text.enumerated() {
            guard let value = Self.value(character) else { return nil }
            if index < 10 { words.0 = words.0 << 6 | value } else { words.1 = words.1 << 6 | value }
        }
        self.high = words.0
        self.low = words.1
    }

    public var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(Self.length)
        for word in [self.high, self.low] {
            for shift in stride(from: 54, through: 0, by: -6) {
                text.append(Self.alphabet[Int(word >> UInt64(shift) & 63)])
            }
        }
        return text
    }

    private static func value(_ character: UInt8) -> UInt64? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
