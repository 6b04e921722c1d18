import Glibc
import Logging
import NIOConcurrencyHelpers
import PipelineTestKit
import Timing
import TimingTestKit

@testable import Mesh

let second = Nanoseconds.seconds(1)
let millisecond = Nanoseconds.milliseconds(1)
let version: UInt16 = 7
let silentLogger = Logger(label: "mesh-tests") { _ in SwiftLogNoOpLogHandler() }

struct Timeout: Error, CustomStringConvertible {
    let description: String
}

extension TemporaryFolder {
    func endpoint(_ name: String = "a") throws -> Endpoint { try Endpoint("ipc://\(self.path)/\(name).sock") }
}

/// What a probe saw, in order.
enum Seen: Equatable, Sendable {
    case up(String)
    case down(LinkLoss)
    case message([[UInt8]])
    case writable
    case resting(Bool)
    case peerUp(PeerID, String)
    case peerDown(PeerID, LinkLoss)
    case peerMessage(PeerID, [[UInt8]])
    case peerWritable(PeerID)
}

/// What the loop of a probe shares with its test.
final class ProbeRecord: Sendable {
    let seen = NIOLockedValueBox<[Seen]>([])
    let counters = NIOLockedValueBox<(server: LinkCounters, dial: LinkCounters)>((LinkCounters(), LinkCounters()))
    let refusals = NIOLockedValueBox(LinkRefusals())
    let turns = NIOLockedValueBox(0)
}

/// Holds at most one server and one dialled link, notes what they say and runs what the test posts.
final class ProbeLoop: ReactorLoop {
    let thread: ReactorThread
    var server: ServerLink?
    var dial: PeerLink?
    var raw: RawSocket?
    var echoes = false
    var drained = true
    private let posts: Mailbox<@Sendable (ProbeLoop) -> Void>
    private let record: ProbeRecord
    private var posted: [@Sendable (ProbeLoop) -> Void] = []
    private var batch: [Seen] = []

    init(_ thread: ReactorThread, _ posts: Mailbox<@Sendable (ProbeLoop) -> Void>, _ record: ProbeRecord) {
        self.thread = thread
        self.posts = posts
        self.record = record
    }

    var isDrained: Bool { self.drained }

    func turn(at now: Instant) -> Instant? {
        self.posts.drain(into: &self.posted)
        for post in self.posted { post(self) }
        while let event = self.server?.next() { self.note(event) }
        while let event = self.dial?.next() {
            switch event {
            case .up(let hello): self.batch.append(.up(hello.name))
            case .down(let loss): self.batch.append(.down(loss))
            case .message: self.batch.append(.message(ProbeLoop.copy(self.dial?.incoming)))
            case .writable: self.batch.append(.writable)
            case .resting(let isResting): self.batch.append(.resting(isResting))
            }
        }
        while let parts = self.raw?.receive() { self.batch.append(.message(parts)) }
        let batch = self.batch
        self.batch.removeAll(keepingCapacity: true)
        if !batch.isEmpty { self.record.seen.withLockedValue { $0 += batch } }
        let counters = (self.server?.counters ?? LinkCounters(), self.dial?.counters ?? LinkCounters())
        self.record.counters.withLockedValue { $0 = counters }
        self.record.refusals.withLockedValue { $0 = self.thread.refusals }
        self.record.turns.withLockedValue { $0 += 1 }
        return nil
    }

    private func note(_ event: ServerLink.Event) {
        switch event {
        case .peerUp(let peer, let hello): self.batch.append(.peerUp(peer, hello.name))
        case .peerDown(let peer, let loss): self.batch.append(.peerDown(peer, loss))
        case .writable(let peer): self.batch.append(.peerWritable(peer))
        case .message(let peer):
            let frames = ProbeLoop.copy(self.server?.incoming)
            if self.echoes {
                for frame in frames { _ = self.server?.send(frame, to: peer) }
            } else {
                self.batch.append(.peerMessage(peer, frames))
            }
        }
    }

    private static func copy(_ frames: Frames?) -> [[UInt8]] {
        guard let frames else { return [] }
        return (0..<frames.count).map { frames.bytes(at: $0) }
    }
}

extension Socket {
    func send(_ bytes: [UInt8], more: Bool = false) -> SendResult {
        bytes.withUnsafeBytes { self.send($0, more: more) }
    }
}

/// A bare socket, for peers that do not keep to the protocol.
final class RawSocket {
    private var socket: Socket
    private let frames = Frames(capacity: 64)

    init(_ kind: Socket.Kind, _ thread: ReactorThread, _ endpoint: Endpoint) throws {
        let options = LinkOptions(sendHighWater: 100_000, receiveHighWater: 100_000)
        self.socket = try Socket(kind, context: thread.context, thread: thread, options: options)
        if kind == .router { _ = try self.socket.bind(endpoint) } else { try self.socket.connect(endpoint) }
    }

    func send(_ parts: [[UInt8]]) {
        for (index, part) in parts.enumerated() {
            _ = self.socket.send(part, more: index + 1 < parts.count)
        }
    }

    func receive() -> [[UInt8]]? {
        guard self.socket.receive(into: self.frames) == .message else { return nil }
        return (0..<self.frames.count).map { self.frames.bytes(at: $0) }
    }
}

/// A reactor with a `ProbeLoop`, as a test holds it.
struct Probe: Sendable {
    let reactor: Reactor
    let record = ProbeRecord()
    private let posts: Mailbox<@Sendable (ProbeLoop) -> Void>

    init(
        drainLimit: Duration = .seconds(5), keys: LinkKeys? = nil,
        setUp: @escaping @Sendable (ProbeLoop) throws -> Void
    ) throws {
        let record = self.record
        let box = NIOLockedValueBox<Mailbox<@Sendable (ProbeLoop) -> Void>?>(nil)
        self.reactor = try Reactor(name: "probe", drainLimit: drainLimit, logger: silentLogger, keys: keys) { thread in
            guard let posts = box.withLockedValue({ $0 }) else { throw Timeout(description: "no mailbox") }
            let loop = ProbeLoop(thread, posts, record)
            try setUp(loop)
            return loop
        }
        let posts = Mailbox<@Sendable (ProbeLoop) -> Void>(capacity: 100_000, waker: self.reactor.waker)
        box.withLockedValue { $0 = posts }
        self.posts = posts
        try self.reactor.start()
    }

    /// A probe with a server.
    static func server(
        _ endpoint: Endpoint, name: String = "server", echoes: Bool = false,
        versions: ClosedRange<UInt16> = version...version,
        options: LinkOptions = LinkOptions(), liveness: LivenessSettings = LivenessSettings(), maximumPeers: Int = 256
    ) throws -> Probe {
        try Probe { loop in
            loop.echoes = echoes
            loop.server = try ServerLink(
                on: loop.thread, bind: endpoint, identity: LinkIdentity(name: name, versions: versions),
                options: options, liveness: liveness, maximumPeers: maximumPeers)
        }
    }

    /// A probe with a dialled link.
    static func dial(
        _ endpoint: Endpoint, name: String = "dialler", versions: ClosedRange<UInt16> = version...version,
        options: LinkOptions = LinkOptions(), liveness: LivenessSettings = LivenessSettings()
    ) throws -> Probe {
        try Probe { loop in
            loop.dial = try PeerLink(
                on: loop.thread, to: endpoint, identity: LinkIdentity(name: name, versions: versions),
                options: options, liveness: liveness)
        }
    }

    /// A probe with a bare socket.
    static func raw(_ kind: Socket.Kind, _ endpoint: Endpoint) throws -> Probe {
        try Probe { $0.raw = try RawSocket(kind, $0.thread, endpoint) }
    }

    var seen: [Seen] { self.record.seen.withLockedValue { $0 } }
    var server: LinkCounters { self.record.counters.withLockedValue { $0.server } }
    var dial: LinkCounters { self.record.counters.withLockedValue { $0.dial } }
    var turns: Int { self.record.turns.withLockedValue { $0 } }

    /// Runs on the reactor's thread with its next turn.
    func post(_ body: @escaping @Sendable (ProbeLoop) -> Void) { _ = self.posts.offer(body) }

    /// Runs on the reactor's thread and waits for the result.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable (ProbeLoop) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            self.post { continuation.resume(returning: body($0)) }
        }
    }

    func stop() async throws {
        self.reactor.stop()
        try await self.reactor.ended()
    }

    /// Waits until the probe has seen this, anywhere in its log.
    func sees(_ what: Seen, within limit: Duration = .seconds(20)) async throws {
        try await eventually("\(what) in \(self.seen.suffix(5))", within: limit) { self.seen.contains(what) }
    }

    /// The only peer of the server, once it is up.
    func firstPeer() async throws -> PeerID {
        var found: PeerID?
        try await eventually("a peer") {
            for case .peerUp(let peer, _) in self.seen { found = peer }
            return found != nil
        }
        guard let found else { throw Timeout(description: "no peer") }
        return found
    }

    var messages: [[[UInt8]]] {
        self.seen.compactMap { seen in
            switch seen {
            case .message(let frames), .peerMessage(_, let frames): frames
            default: nil
            }
        }
    }
}

/// 4 bytes for a number, and back.
func bytes(_ number: Int) -> [UInt8] { [UInt8](withUnsafeBytes(of: UInt32(number).bigEndian) { [UInt8]($0) }) }

/// Connects to a port of this machine and sends some bytes.
/// - Returns: the descriptor, which the caller closes.
func connectRaw(to port: UInt16, _ bytes: [UInt8]) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let code = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard code == 0 else { throw Timeout(description: "connect: \(errno)") }
    send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    return descriptor
}
