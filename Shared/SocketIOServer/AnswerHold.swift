public import NIOCore

/// Tells when a client has read an answer, or is gone: the server lets go of it then.
public final class AnswerHold: Sendable {
    private let ended: NIOLoopBound<() -> Void>

    /// - Parameters:
    ///   - eventLoop: the server's.
    ///   - ended: called once, on that loop, unless the server has stopped.
    public init(on eventLoop: any EventLoop, ended: @escaping () -> Void) {
        self.ended = NIOLoopBound(ended, eventLoop: eventLoop)
    }

    deinit {
        if self.ended.eventLoop.inEventLoop { self.ended.value() }
    }
}
