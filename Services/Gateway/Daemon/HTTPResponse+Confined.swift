import SocketIOServer

extension HTTPResponse {
    /// The answer with the fields that confine what a browser does with it: it names this address to nobody, shows it in
    /// no frame, and runs nothing in it that its own policy does not allow (Content Security Policy 3).
    var confined: HTTPResponse {
        var response = self
        response.headers += Self.confinement
        if !self.headers.contains(where: { $0.0 == Self.policyField }) {
            response.headers.append((Self.policyField, "default-src 'none'; frame-ancestors 'none'"))
        }
        return response
    }

    private static let policyField = "content-security-policy"

    private static let confinement = [
        ("referrer-policy", "no-referrer"),
        // For browsers that know no frame-ancestors.
        ("x-frame-options", "DENY"),
    ]
}
