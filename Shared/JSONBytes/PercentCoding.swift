/// Percent-encoding in paths and queries (RFC 3986 section 2.1).
package enum PercentCoding {
    /// Decodes a segment of a path or the value of a parameter. Ill-formed UTF-8 becomes U+FFFD, which no id holds.
    package static func decode(_ segment: String) -> String {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
        return String(decoding: self.decode(Array(segment.utf8)[...]), as: UTF8.self)
    }

    /// Decodes escapes; what is none stays as it is.
    /// - Parameter isForm: whether a plus sign stands for a space, as in forms.
    package static func decode(_ text: ArraySlice<UInt8>, isForm: Bool = false) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%"), text.endIndex - index > 2, hexDigit(text[index + 1]) < 16,
                hexDigit(text[index + 2]) < 16
            {
                decoded.append(hexDigit(text[index + 1]) << 4 | hexDigit(text[index + 2]))
                index += 3
            } else {
                decoded.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return decoded
    }

    /// Encodes everything but unreserved characters (RFC 3986 section 2.3).
    package static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
