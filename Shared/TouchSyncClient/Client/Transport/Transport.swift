public import TouchSyncClientCore

/// How a client reaches the server.
///
/// `URLSessionTransport` does on Apple's platforms, `NIOTransport` on Linux. An app may bring its own.
public protocol Transport: Sendable {
    /// Opens a WebSocket.
    ///
    /// It waits for the server's answer without a limit of its own: the client cancels an attempt after 10 s. Cancelling
    /// the task gives the attempt up immediately, wherever it stands.
    /// - Parameter url: `ws://…` or `wss://…`, with path and query.
    /// - Throws: `TransportError`, or `CancellationError`.
    func open(_ url: String) async throws -> any TransportConnection

    /// Requests a resource by HTTP's GET.
    /// - Parameters:
    ///   - url: `http://…` or `https://…`, with path and query.
    ///   - token: goes as `Authorization: Bearer`; nil for none.
    ///   - limit: the maximum number of bytes of the body.
    /// - Throws: `TransportError`, also when the body is larger; or `CancellationError`.
    func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse
}

/// An open WebSocket. It is open until one side closes it, or `close` is called.
public protocol TransportConnection: Sendable {
    /// Sends a text message behind those before it. What cannot be sent any more is dropped; `receive` tells of the end.
    func send(_ text: String)

    /// The next text message; nil once the connection is closed, for whatever reason. One caller at a time.
    ///
    /// While nobody receives, not more than a few messages are taken from the network.
    func receive() async -> String?

    /// Closes it: with a close frame if the network takes it, without waiting for the other side's.
    func close()
}

/// The answer to a request by HTTP.
public struct TransportResponse: Sendable {
    /// HTTP's status code.
    public let status: Int
    /// The content.
    public let body: [UInt8]

    /// An answer.
    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// Why the server was not reached, or did not answer as asked.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// What kind of reason it is; `ConnectionFailure` adds what to check.
    public let code: ConnectionFailure.Code
    /// A sentence that says what happened.
    public let description: String

    /// An error with this description.
    public init(_ code: ConnectionFailure.Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// The platform's own way to reach a server.
public enum PlatformTransport {
    /// `NIOTransport` on Linux, `URLSessionTransport` on Apple's platforms, each with its defaults.
    public static func make() -> any Transport {
        #if canImport(Darwin)
            URLSessionTransport()
        #else
            NIOTransport()
        #endif
    }
}

/// A token's header, of characters that cannot end a line of HTTP.
enum BearerToken {
    static func header(_ token: String) throws(TransportError) -> String {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw TransportError(.token, "The token has a character that no header may hold.")
        }
        return "Bearer \(token)"
    }
}
