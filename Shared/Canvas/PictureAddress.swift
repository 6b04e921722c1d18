/// Texts that programs may load as an element's picture.
package enum PictureAddress {
    /// Rejects an address that is not safe, or very long. A text without a scheme is a name of the app's own.
    static func check(_ text: String, field: String) throws(FieldError) {
        guard Self.hasScheme(Self.seen(text)) else { return }
        guard Self.isSafe(text) else {
            throw FieldError(field: field, message: "A picture's address begins with https:// or data:image/.")
        }
        guard text.utf8.count <= CanvasLimits.pictureAddressBytes else {
            throw FieldError(
                field: field, message: "A picture's address has at most \(CanvasLimits.pictureAddressBytes) bytes.",
                tooLarge: true)
        }
    }

    /// Whether a page may load a picture from an address: one that begins with `data:image/` or `https://`, or on loopback with
    /// `http://`.
    package static func isSafe(_ address: String) -> Bool {
        let seen = Self.seen(address)
        if seen.hasPrefix("http://") { return Self.isOnLoopback(seen.dropFirst(7)) }
        return seen.hasPrefix("https://") || seen.hasPrefix("data:image/")
    }

    /// The begin of what browsers read (WHATWG URL, section 4.4): without blanks before it, and line breaks and tabs in it.
    private static func seen(_ text: String) -> String {
        let bytes = text.utf8.lazy.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }.drop { $0 <= 0x20 }
        return String(decoding: bytes.prefix(CanvasLimits.pictureAddressBytes), as: UTF8.self).lowercased()
    }

    /// RFC 3986 section 3.1.
    private static func hasScheme(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first, Self.letters.contains(first)
        else { return false }
        return bytes[..<colon].allSatisfy { Self.letters.contains($0) || "0123456789+-.".utf8.contains($0) }
    }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")

    private static func isOnLoopback(_ rest: Substring) -> Bool {
        let place = rest.prefix { !"/?#".contains($0) }
        let isHere = ["localhost", "127.0.0.1", "[::1]"].contains { place == $0 || place.hasPrefix($0 + ":") }
        return isHere && !place.contains("@")
    }
}
