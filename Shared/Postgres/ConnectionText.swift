/// Escapes texts for connection strings and for SQL where parameters cannot be bound.
enum ConnectionText {
    /// libpq's `key='value'` form.
    static func keyValues(_ options: [String: String]) -> String {
        options.sorted { $0.key < $1.key }.map { key, value in
            "\(key)='\(String(value.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] }))'"
        }.joined(separator: " ")
    }

    /// A quoted SQL identifier.
    static func identifier(_ name: String) -> String {
        "\"\(String(name.flatMap { $0 == "\"" ? ["\"", "\""] : [$0] }))\""
    }

    /// Percent-encodes all but unreserved characters (RFC 3986 section 2.3).
    static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
