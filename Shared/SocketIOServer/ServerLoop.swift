internal import NIOCore
internal import SocketIO

/// The state shared by all connections of one server: its event loop and clock, limits, timers, flushes, buffers and
/// counters.
/// Used on the loop only.
final class ServerLoop {
    let eventLoop: any EventLoop
    let configuration: SocketIOServer.Configuration
    let flushes: FlushQueue
    let timers: DeadlineTimers
    var outbox = SharedOutbox()
    var statistics = SocketIOServer.Statistics()
    /// What new connections get under TLS; `nil` without it. A server has one from its start or never.
    var identity: TLSIdentity?
    /// True once the server accepts no new sessions: HTTP answers then close their connection.
    var isDraining = false
    /// Storage for decoded messages, used by one reader at a time.
    private var scratch: [UInt8] = []

    init(_ eventLoop: any EventLoop, _ configuration: SocketIOServer.Configuration, _ flushes: FlushQueue) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.flushes = flushes
        self.timers = DeadlineTimers(eventLoop, flushes)
        self.identity = configuration.tls
    }

    var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// Runs `body` with storage for one message; a nested call gets its own storage.
    func withScratch<Result>(_ body: (inout [UInt8]) -> Result) -> Result {
        var scratch: [UInt8] = []
        swap(&scratch, &self.scratch)
        defer { if scratch.capacity <= 1 << 16 { self.scratch = scratch } }
        return body(&scratch)
    }
}
