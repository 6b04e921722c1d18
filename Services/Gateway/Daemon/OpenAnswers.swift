import GatewayCore
import SocketIOServer

/// Answers that somebody waits for, or has not read: to requests over HTTP, and on connections of apps that have gone.
struct OpenAnswers {
    /// An answer's hold, which its connection has.
    private struct WeakHold {
        weak var hold: AnswerHold?
    }

    /// By the numbers of their requests.
    private var responders: [UInt64: (HTTPAnswer) -> Void] = [:]
    private var holds: [UInt64: WeakHold] = [:]
    /// The lines of apps that have gone, by their connections' ids.
    private var departed: [UInt64: any AppLine] = [:]

    /// A request came.
    mutating func requested(_ request: UInt64, respond: @escaping (HTTPAnswer) -> Void) {
        self.responders[request] = respond
    }

    /// Moves out what hears of a request's answer.
    mutating func takeResponder(of request: UInt64) -> ((HTTPAnswer) -> Void)? {
        self.responders.removeValue(forKey: request)
    }

    /// The answer to a request counts until its hold is let go of.
    mutating func hold(_ request: UInt64, by hold: AnswerHold) { self.holds[request] = WeakHold(hold: hold) }

    /// The answer to a request was read.
    mutating func read(_ request: UInt64) { self.holds[request] = nil }

    /// Closes the connection of a request's answer.
    func drop(_ request: UInt64) { self.holds[request]?.hold?.drop() }

    /// The line of an app that has gone and has not read its answers.
    subscript(departed connection: UInt64) -> (any AppLine)? {
        get { self.departed[connection] }
        set { self.departed[connection] = newValue }
    }
}
