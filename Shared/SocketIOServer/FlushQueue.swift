public import NIOCore

/// The connections with unflushed sends.
///
/// Each one is flushed once: when a read is processed, when ``flush()`` is called, or in the next turn of the event
/// loop. Create it before the server if the application needs it first. Used on the loop only, apart from its creation.
public final class FlushQueue {
    private let eventLoop: any EventLoop
    private var outputs: [ConnectionOutput] = []
    private var pollingSessions: [EngineIOSession] = []
    /// Sessions whose backlog exceeds its bound; ended by the next flush, because a send must not end a session.
    private var slowReaders: [EngineIOSession] = []
    /// True while a flush is certain to follow.
    private(set) var isHeld = false
    private var isScheduled = false
    /// Called when all that a connection had to read is processed, and sends are flushed, before the loop reads the next
    /// one.
    public var afterRead: (() -> Void)?

    public init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    private var isEmpty: Bool { self.outputs.isEmpty && self.pollingSessions.isEmpty }

    func append(_ output: ConnectionOutput) {
        self.outputs.append(output)
        self.schedule()
    }

    func append(polling session: EngineIOSession) {
        self.pollingSessions.append(session)
        self.schedule()
    }

    func append(slowReader session: EngineIOSession) {
        self.slowReaders.append(session)
        self.schedule()
    }

    /// Flushes every queued connection once.
    public func flush() {
        var rounds = 0
        // Callbacks may send more while this runs; after a second round the scheduled flush handles the rest.
        while rounds < 2, !(self.isEmpty && self.slowReaders.isEmpty) {
            rounds += 1
            self.flushPolling()
            self.flushOutputs()
            self.endSlowReaders()
        }
        if !self.isEmpty { self.schedule() }
    }

    /// Runs `body`, which sends to many connections, and flushes once.
    public func flushing(_ body: () -> Void) {
        let wasHeld = self.isHeld
        self.isHeld = true
        body()
        self.isHeld = wasHeld
        self.flush()
    }

    /// A read begins: its sends are flushed by ``release()``.
    func hold() { self.isHeld = true }

    func release() {
        self.isHeld = false
        self.flush()
    }

    /// All that a connection had to read is processed: flushes, then tells the application.
    func readEnded() {
        self.release()
        self.afterRead?()
    }

    private func flushPolling() {
        guard !self.pollingSessions.isEmpty else { return }
        for session in exchange(&self.pollingSessions, with: []) { session.flushPolling() }
    }

    private func flushOutputs() {
        var outputs: [ConnectionOutput] = []
        swap(&outputs, &self.outputs)
        for output in outputs { output.flush() }
        outputs.removeAll(keepingCapacity: true)
        if self.outputs.isEmpty { swap(&outputs, &self.outputs) }
    }

    private func endSlowReaders() {
        guard !self.slowReaders.isEmpty else { return }
        for session in exchange(&self.slowReaders, with: []) { session.endAsSlowReader() }
    }

    private func schedule() {
        guard !self.isHeld, !self.isScheduled else { return }
        self.isScheduled = true
        self.eventLoop.assumeIsolated().execute {
            self.isScheduled = false
            self.flush()
        }
    }
}
