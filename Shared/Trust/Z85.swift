/// ZeroMQ's text for binary keys (ZeroMQ RFC 32): four bytes are five printable characters.
enum Z85 {
    private static let alphabet = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// The value of each ASCII character; 255 for one outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: .max, count: 128)
        for (value, character) in Self.alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// - Precondition: the number of bytes is divisible by four.
    static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count.isMultiple(of: 4), "Z85 encodes groups of four bytes")
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 4 * 5)
        for start in stride(from: 0, to: bytes.count, by: 4) {
            let group = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            for divisor in [85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1] as [UInt32] {
                text.append(Self.alphabet[Int(group / divisor % 85)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes; nil for a character outside the alphabet, an incomplete group, and a group above 2³² − 1, so that no
    /// two texts have the same bytes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 5) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 5 * 4)
        var group: UInt64 = 0
        for (index, character) in text.enumerated() {
            guard character < 128, Self.values[Int(character)] != .max else { return nil }
            group = group * 85 + UInt64(Self.values[Int(character)])
            guard index % 5 == 4 else { continue }
            guard let whole = UInt32(exactly: group) else { return nil }
            withUnsafeBytes(of: whole.bigEndian) { bytes.append(contentsOf: $0) }
            group = 0
        }
        return bytes
    }
}
