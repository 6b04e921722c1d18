internal import Crypto

/// Who may see what only operators may: whoever presents the operator's token, and nobody where none is set.
package struct OperatorAccess: Sendable {
    package enum Refusal: String, CaseIterable, Sendable {
        case missing
        case wrong
        /// There is no token that could be presented.
        case unset

        /// Of HTTP: whether a token would help.
        package var status: Int { self == .unset ? 403 : 401 }

        /// A sentence for who asked.
        package var text: String {
            switch self {
            case .missing: "The operator's token is required."
            case .wrong: "This is not the operator's token."
            case .unset: "Operators set operator-token to see this; without it nobody does."
            }
        }
    }

    /// Of the token, which itself is not kept; nil where none is set.
    private let digest: SHA256.Digest?

    /// - Parameter token: the value of ``SharedSettings/operatorToken``.
    package init(token: String?) {
        self.digest = token.map { SHA256.hash(data: Array($0.utf8)) }
    }

    package var isPossible: Bool { self.digest != nil }

    /// Why a request is refused; nil when it is an operator's. The time that this takes does not depend on the secret:
    /// digests are compared in constant time.
    /// - Parameter authorization: the value of its only Authorization field (RFC 6750 section 2.1); nil without one.
    package func refusal(authorization field: String?) -> Refusal? {
        guard let digest else { return .unset }
        guard let field else { return .missing }
        guard let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else { return .wrong }
        let presented = field[space...].drop { $0 == " " }
        return SHA256.hash(data: Array(presented.utf8)) == digest ? nil : .wrong
    }

    /// The value of the Authorization field that presents a token.
    package static func field(presenting token: String) -> String { "Bearer \(token)" }
}
