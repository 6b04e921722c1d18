/// The app's token, and the one that the server refused.
struct TokenHolder: Sendable {
    var token: String?
    /// The token that the server refused, empty if it was none: it is not presented again.
    var refused: String?
    /// Whether the app was asked for the token that follows the present one.
    var isRefreshing = false

    /// Why the next connection needs a token.
    var reason: TokenReason { self.refused == nil ? .connect : .refused }

    /// Accepts the app's token for the next connection; false when there is none, or only the refused one.
    mutating func accept(_ token: String?) -> Bool {
        guard let token, !Self.isSame(token, self.refused) else { return false }
        self.token = token
        return true
    }

    mutating func refusedByServer() {
        self.refused = self.token ?? ""
    }

    func isPresent(_ token: String) -> Bool { Self.isSame(token, self.token) }

    private static func isSame(_ left: String, _ right: String?) -> Bool {
        right.map { TextKey(left) == TextKey($0) } ?? false
    }
}
