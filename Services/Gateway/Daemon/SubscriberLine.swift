import GatewayCore
import NIOCore
import SocketIOServer
import Wire

/// A subscriber as the hub sees it: a response over HTTP that goes on with a room's numbered stream. What is for apps alone
/// never comes here.
///
///     asked ──opening──► streaming ──► ended: the client is gone or does not read, its token has ended, the stream goes on
///       └──refused──────────────────►         elsewhere, or the gateway stops. It connects again, from where it was.
final class SubscriberLine: AppLine {
    private let stream = ResponseStream()
    private let eventLoop: any EventLoop
    private var respond: ((HTTPResponse) -> Void)?
    private var heartbeat: Scheduled<Void>?
    /// Bytes that were sent behind the opening.
    private var followedBytes = 0
    /// What the client had read of them at the last heartbeat; less than nothing while it reads the opening.
    private var readBytes: Int?
    /// Called once when the line is over.
    var closed: (() -> Void)?
    var drained: (() -> Void)? { didSet { self.stream.writable = self.drained } }
    var snapshotSent: ((Identifier) -> Void)?

    private static let heartbeatPause = TimeAmount.seconds(15)

    init(on eventLoop: any EventLoop, respond: @escaping (HTTPResponse) -> Void) {
        self.eventLoop = eventLoop
        self.respond = respond
        self.stream.ended = { [weak self] in self?.finish() }
    }

    // MARK: The stream

    /// The room is there: the response begins.
    func open(with text: [UInt8]) {
        var response = HTTPResponse(
            status: 200,
            headers: [
                ("content-type", "text/event-stream"), ("cache-control", "no-store"),
                // nginx would keep the events until they are many.
                ("x-accel-buffering", "no"),
            ],
            body: text)
        response.stream = self.stream
        self.scheduleHeartbeat()
        exchange(&self.respond, with: nil)?(response)
    }

    /// There is no stream.
    func refuse(_ refusal: Refusal) {
        exchange(&self.respond, with: nil)?(HTTPPages.refusal(refusal))
        self.finish()
    }

    func send(_ text: [UInt8]) {
        self.followedBytes += text.count
        self.stream.send(text)
    }

    private func scheduleHeartbeat() {
        self.heartbeat = self.eventLoop.assumeIsolated().scheduleTask(in: Self.heartbeatPause) { [weak self] in
            self?.beat()
        }
    }

    /// Shows the client that the connection lives, and ends it when the client has read nothing since the last time.
    private func beat() {
        let unread = self.stream.bufferedBytes
        let read = self.followedBytes - unread
        if unread > 0, read == self.readBytes { return self.shed() }
        self.readBytes = read
        self.send(EventStreamText.heartbeat)
        self.scheduleHeartbeat()
    }

    private func finish() {
        self.heartbeat?.cancel()
        exchange(&self.closed, with: nil)?()
    }

    // MARK: What waits

    /// Of the opening.
    var outstandingBytes: Int { max(0, self.stream.bufferedBytes - self.followedBytes) }
    var isStuck: Bool { !self.stream.isWritable }
    func isBehind(_ bound: Int) -> Bool { self.isStuck && min(self.stream.bufferedBytes, self.followedBytes) > bound }

    // MARK: Its end

    func disconnect() { self.end() }
    func goAway() { self.end() }
    func expel() { self.end() }
    func shed() { self.stream.shed() }
    func ended() { (self.drained, self.closed) = (nil, nil) }

    private func end() {
        guard self.respond == nil else { return self.refuse(.stopsStreams) }
        self.stream.end()
    }

    // MARK: For apps alone

    var takesBatches: Bool { false }
    func acknowledge(_ id: UInt64, _ json: [UInt8]) {}
    func send(_ snapshot: Snapshot) {}
    func dropSnapshot(of room: Identifier) {}
    func emit(_ json: [UInt8]) {}
    func send(_ packet: PreparedPacket, step: StreamStep?) {}
    func offer(_ packet: PreparedPacket) -> Bool { true }
    func send(_ previews: [PreviewText], butOf publisher: Slot?, packet: PreparedPacket) {}
    func dropPreviews(of room: Identifier) {}
    func reportBadMessage() {}
}

extension Refusal {
    /// The gateway ended the request before there was a stream.
    fileprivate static var stopsStreams: Refusal {
        Refusal(.unavailable, "The stream ended before it began; connect again.", retryAfterMs: 1000)
    }
}
