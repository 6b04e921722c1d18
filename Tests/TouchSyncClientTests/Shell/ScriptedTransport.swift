import NIOConcurrencyHelpers
import TouchSyncClient

/// A server in a test's hands.
final class ScriptedTransport: Transport {
    /// A request by HTTP.
    struct Request: Equatable {
        let url: String
        let token: String?
    }

    private struct State {
        var pages: [Result<TransportResponse, TransportError>] = []
        var requests: [Request] = []
        var openings = 0
    }

    private let state = NIOLockedValueBox(State())
    private let connections = Waitlist<ScriptedConnection>()

    /// How often the client opened a socket.
    var openings: Int { self.state.withLockedValue { $0.openings } }
    /// What was requested by HTTP.
    var requests: [Request] { self.state.withLockedValue { $0.requests } }

    /// Answers the next request that has no answer yet.
    func answer(status: Int = 200, _ body: String) {
        let response = TransportResponse(status: status, body: Array(body.utf8))
        self.state.withLockedValue { $0.pages.append(.success(response)) }
    }

    /// Lets the next request that has no answer yet fail.
    func fail() {
        self.state.withLockedValue { $0.pages.append(.failure(TransportError(.refused, "too large"))) }
    }

    /// The next connection that the client opens.
    func connection() async throws -> ScriptedConnection { try await self.connections.next() }

    func open(_ url: String) async throws -> any TransportConnection {
        let connection = ScriptedConnection(url: url)
        self.state.withLockedValue { $0.openings += 1 }
        self.connections.append(connection)
        return connection
    }

    func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
        try self.state.withLockedValue { state in
            state.requests.append(Request(url: url, token: token))
            guard !state.pages.isEmpty else { throw TransportError(.unreachable, "no answer") }
            return try state.pages.removeFirst().get()
        }
    }
}

/// A socket in a test's hands.
final class ScriptedConnection: TransportConnection {
    let url: String
    private let received = Waitlist<String?>()
    private let sent = Waitlist<String>()
    private let closed = Waitlist<Void>()
    /// Whether the network still brings messages after `close`.
    private let isStubborn = NIOLockedValueBox(false)

    init(url: String) {
        self.url = url
    }

    // MARK: The client's side

    func send(_ text: String) { self.sent.append(text) }

    func receive() async -> String? { (try? await self.received.next()) ?? nil }

    func close() {
        self.closed.append(())
        if !self.isStubborn.withLockedValue({ $0 }) { self.received.append(nil) }
    }

    // MARK: The server's side

    func say(_ text: String) { self.received.append(text) }

    /// The connection is lost.
    func drop() { self.received.append(nil) }

    func stayOpen() { self.isStubborn.withLockedValue { $0 = true } }

    /// What the client sends next.
    func heard() async throws -> String { try await self.sent.next() }

    /// What the client sent, and nobody has heard.
    var unheard: [String] { self.sent.waiting }

    /// Waits until the client closed it.
    func closing() async throws { try await self.closed.next() }

    /// Waits until the client took everything that was said.
    func wasRead() async throws { try await eventually { self.received.isAwaited } }

    /// Lets the client in.
    /// - Returns: its CONNECT.
    @discardableResult func accept() async throws -> String {
        self.say(#"0{"sid":"e","pingInterval":25000,"pingTimeout":20000}"#)
        let connect = try await self.heard()
        self.say(#"40{"sid":"x"}"#)
        return connect
    }

    /// Answers the next request, which must be `event`.
    func answer(_ event: String, _ answer: String) async throws {
        let request = try await self.heard()
        let number = request.dropFirst(2).prefix { $0.isNumber }
        guard request.contains("[\"\(event)\"") else { throw Surprise(text: request) }
        self.say("43\(number)[\(answer)]")
    }

    /// Lets the client into a room.
    func join(_ elements: String = "", seq: Int = 1, session: String = "s") async throws {
        try await self.answer(
            "room:join",
            #"{"ok":true,"epoch":"e","seq":\#(seq),"n":0,"session":"\#(session)","sid":"i-\#(session)","#
                + #""members":[],"throttleMs":16,"elements":[\#(elements)]}"#)
    }
}

/// Something else was expected.
struct Surprise: Error {
    let text: String
}
