internal import SocketIO

/// The HTTP side of a connection: one request at a time.
///
/// ```
/// reading head -> reading body -> answering -> reading head …
/// ```
/// While an answer is due, what the client sends early is kept up to the size of one head.
final class HTTPExchange {
    /// Where a request goes when its body is complete.
    enum Target {
        case openPolling(Int)
        case poll(EngineIOSession)
        case post(EngineIOSession)
        case preflight(Int)
        case fallback(any HTTPApplication)
        case failure(EngineError, Int)
        /// To the server that owns the session, …
        case relay(SocketIOServer.Neighbour)
        /// … on its way there and back.
        case relaying(RelayLink)
    }

    var parser: HTTPRequestParser
    var head: HTTPRequestHead?
    var target: Target?
    /// Bytes of pipelined requests.
    var backlog: [UInt8] = []
    var isAnswering = false
    var isFeeding = false
    /// Between requests of a kept connection.
    var isIdle = false
    /// The head of a relayed answer was sent, its body is under way; whether the connection is kept after it.
    var isStreaming = false
    var keepsAlive = false
    /// Counts requests, so that a late answer to an older one is known.
    var serial = 0

    init(limits: HTTPLimits) {
        self.parser = HTTPRequestParser(limits: limits)
    }

    func connectionLost() {
        let target = self.target
        self.target = nil
        switch target {
        case .poll(let session) where self.isAnswering: session.pollLost()
        case .post(let session) where !self.isAnswering: session.postLost()
        case .relaying(let link): link.cancel()
        default: break
        }
    }
}
