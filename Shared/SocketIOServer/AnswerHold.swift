public import NIOCore

/// Tells when a client has read an answer, or is gone: the server lets go of it then. Until then the answer's connection can
/// be closed.
public final class AnswerHold: Sendable {
    private let ended: NIOLoopBound<() -> Void>
    private let close: NIOLoopBoundBox<(() -> Void)?>

    /// - Parameters:
    ///   - eventLoop: the server's.
    ///   - ended: called once, on that loop, unless the server has stopped.
    public init(on eventLoop: any EventLoop, ended: @escaping () -> Void) {
        self.ended = NIOLoopBound(ended, eventLoop: eventLoop)
        self.close = NIOLoopBoundBox(nil, eventLoop: eventLoop)
    }

    /// The answer was sent over a connection, which this closes.
    func kept(_ close: @escaping () -> Void) { self.close.value = close }

    /// Closes the connection that the answer was sent over, immediately. On the loop only.
    public func drop() { self.close.value?() }

    deinit {
        if self.ended.eventLoop.inEventLoop { self.ended.value() }
    }
}
