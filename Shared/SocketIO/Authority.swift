/// A host and perhaps a port (RFC 3986 section 3.2), such as `api.example.com:443` or `[::1]`.
struct Authority {
    let name: ArraySlice<UInt8>
    /// `nil` for the default of the scheme.
    let port: Int?

    /// `nil` for an empty name or a malformed port.
    init?(_ text: ArraySlice<UInt8>) {
        // The colons of an IPv6 address are inside brackets.
        let afterName = text.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        let colon = text[afterName...].firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        self.name = text[..<colon]
        let digits = text[colon...].dropFirst()
        guard !self.name.isEmpty, digits.count <= 5, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        self.port = digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
