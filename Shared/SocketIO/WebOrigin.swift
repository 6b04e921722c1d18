/// The origin of web pages, as browsers send it in the field Origin (RFC 6454 section 6.2), such as
/// `https://app.example.com`.
public struct WebOrigin: Sendable, Equatable {
    /// The bytes that browsers send.
    public let text: String

    /// An origin that a person wrote: in lower case, without the scheme's default port, and without a slash at the end.
    /// - Throws: for what no browser sends.
    public init(parsing text: String) throws(UnusableName) {
        // Pages without a server have an origin that cannot be told from others', or that of files.
        if text == "null" || text == "file://" {
            self.text = text
            return
        }
        guard let mark = text.firstRange(of: "://") else {
            throw UnusableName("has no scheme; an origin is SCHEME://HOST, with a port if it is not the scheme's own")
        }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.utf8.first, Self.isLetter(first), scheme.utf8.allSatisfy(Self.isSchemeByte) else {
            throw UnusableName("has a scheme that is none, such as https")
        }
        var rest = text[mark.upperBound...]
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.contains(where: { "/?#".contains($0) }) else {
            throw UnusableName("has a path; an origin ends with its host or port")
        }
        guard !rest.contains("@") else { throw UnusableName("has a user, which no origin has") }
        let place = try WrittenAuthority(rest)
        let port = place.port == OriginScheme(Array(scheme.utf8)[...])?.defaultPort ? nil : place.port
        self.text = "\(scheme)://\(place.host)\(port.map { ":\($0)" } ?? "")"
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }

    /// RFC 3986 section 3.1.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        self.isLetter(byte) || "0123456789+-.".utf8.contains(byte)
    }
}
