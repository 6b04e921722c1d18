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

/// Storage in which the connections of a loop encode small packets one after the other, so that they leave in one
/// write. It contains bytes of one connection at a time.
struct SharedOutbox {
    private var buffer = ByteBufferAllocator().buffer(capacity: 4096)
    private var owner: ConnectionOutput?
    /// Storage to join several buffers of one connection.
    private var joined = ByteBuffer()

    /// Encodes with `body` for a connection; false when the storage is in use for another one.
    mutating func encode(for output: ConnectionOutput, _ body: (inout ByteBuffer) -> Void) -> Bool {
        if let owner = self.owner {
            guard owner === output else { return false }
        } else {
            self.clear()
            self.owner = output
        }
        body(&self.buffer)
        return true
    }

    private mutating func clear() {
        if self.buffer.capacity > 1 << 16 {
            self.buffer = ByteBufferAllocator().buffer(capacity: 4096)
        } else {
            self.buffer.clear()
        }
    }

    func byteCount(of output: ConnectionOutput) -> Int { self.owner === output ? self.buffer.readableBytes : 0 }

    mutating func remove(for output: ConnectionOutput) -> ByteBuffer? {
        guard self.owner === output else { return nil }
        self.owner = nil
        return self.buffer.readableBytes > 0 ? self.buffer : nil
    }

    mutating func join(_ gathered: inout GatheredWrites) -> ByteBuffer { gathered.removeAll(joinedIn: &self.joined) }
}
