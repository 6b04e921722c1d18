/// Why an attempt to connect failed.
public struct ConnectionFailure: Error, Hashable, Sendable {
    /// The kinds of reasons.
    public enum Code: String, CaseIterable, Sendable {
        /// There is no such host, no way to it, or no answer in time.
        case unreachable
        /// The server speaks no TLS, or has no certificate that this device trusts for this host.
        case tls
        /// Nothing listens there, or something in between refuses the connection.
        case refused
        /// Something answers that is no TouchSync server.
        case notTouchSync = "not_touchsync"
        /// The server admits no clients from this origin, or under this name.
        case origin
        /// There is no token, or the server refused it.
        case token
        /// The server speaks another version of the protocol.
        case version
    }

    /// What kind of reason it is.
    public let code: Code
    /// What happened and what to check, for the app's developer.
    public let message: String

    /// - Parameter detail: a sentence with what is known of this attempt; nil: what the code means.
    package init(_ code: Code, detail: String? = nil) {
        self.code = code
        self.message = "\(detail ?? code.meaning) \(code.advice)"
    }
}

extension ConnectionFailure: CustomStringConvertible {
    /// The message.
    public var description: String { self.message }
}

extension ConnectionFailure.Code {
    fileprivate var meaning: String {
        switch self {
        case .unreachable: "The server did not answer."
        case .tls: "TLS failed."
        case .refused: "The connection was refused."
        case .notTouchSync: "What answers there is no TouchSync server."
        case .origin: "The server refused the address under which it was called."
        case .token: "There is no token that the server accepts."
        case .version: "The server speaks another version of the protocol."
        }
    }

    fileprivate var advice: String {
        switch self {
        case .unreachable: "Check the host in the url, the network, and that the server runs."
        case .tls: "Check that url begins with https only where the server speaks TLS, and its certificate."
        case .refused: "Check the port in the url, that the gateway runs, and proxies in between."
        case .notTouchSync: "Check host and port in the url, and that a proxy passes on /socket.io/ with WebSockets."
        case .origin: "Check the gateway's settings origins and hosts."
        case .token: "Check what the app's token function returns, and the gateway's keys."
        case .version: "Check that client and server are of the same release."
        }
    }
}
