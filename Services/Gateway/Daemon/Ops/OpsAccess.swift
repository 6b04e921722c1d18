import Crypto
import Wire

/// Who may see the pipeline's overview.
enum OpsAccess: Sendable {
    /// Whoever presents the operator's token.
    case token(OperatorToken)
    /// Everybody who reaches the gateway, which are this machine's programs.
    case localPrograms
    /// Nobody: others reach the gateway, and there is no operator's token.
    case nobody
}

/// The secret that an operator presents. Only its digest is kept.
struct OperatorToken: Sendable {
    private let digest: SHA256.Digest

    init(_ text: String) {
        self.digest = SHA256.hash(data: Array(text.utf8))
    }

    /// Whether it is the value of an Authorization field (RFC 6750 section 2.1). The time that this takes does not depend
    /// on the secret: digests are compared in constant time.
    func matches(_ field: String) -> Bool {
        guard let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else { return false }
        let presented = field[space...].drop { $0 == " " }
        return SHA256.hash(data: Array(presented.utf8)) == self.digest
    }
}

/// Why a request is refused.
enum OpsRefusal: String, CaseIterable, Sendable {
    case missing, wrong, closed
    case rate

    var refusal: Refusal {
        switch self {
        case .missing: Refusal(.forbidden, "The operator's token is required.", field: "token")
        case .wrong: Refusal(.forbidden, "This is not the operator's token.", field: "token")
        case .closed:
            Refusal(
                .forbidden,
                "Others than this machine's programs reach this gateway, so set ops-token to at least 32 bytes.")
        case .rate: Refusal(.rateLimited, "Tokens are presented too often.", retryAfterMs: 1000)
        }
    }
}
