/// A token's header, of characters that cannot end a line of HTTP.
enum BearerToken {
    static func header(_ token: String) throws(TransportError) -> String {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw TransportError("The token has a character that no header may hold.")
        }
        return "Bearer \(token)"
    }
}
