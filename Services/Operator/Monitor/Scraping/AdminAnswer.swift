struct AdminAnswer: Sendable {
    let status: Int
    let body: [UInt8]

    /// Why the page was not shown, completing "the admin server"; nil when it was, or there is no such page.
    var refusal: String? {
        switch self.status {
        case 401: "asks for the operator's token, and was given none, or another one"
        case 403: "shows nothing but health, because its operator-token is not set"
        case 421: "goes by another name"
        default: nil
        }
    }
}

/// Why there is no answer.
enum AdminFailure: Error, Equatable, Sendable {
    /// No connection; the reason is for people.
    case unreachable(String)
    /// No whole answer in time, or the connection ended before.
    case silent
    /// The answer is longer than the limit, in bytes.
    case tooLong(Int)
    /// It is not HTTP, or no page of a daemon.
    case malformed

    /// For people, completing the server's name.
    var reason: String {
        switch self {
        case .unreachable(let reason): "cannot be reached: \(reason)"
        case .silent: "gives no answer"
        case .tooLong(let limit): "answers with more than \(limit) bytes"
        case .malformed: "does not answer like a daemon of this pipeline"
        }
    }
}
