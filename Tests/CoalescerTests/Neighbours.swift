import Boot
import Logging
import Mesh
import NIOConcurrencyHelpers
import Timing
import TimingTestKit
import Wire

/// A preview that a fan-out got.
struct Sight: Equatable, Sendable {
    let preview: Preview
    let fanout: String
}

/// The stages around a coalescer, in one thread of their own: a gateway, and fan-outs.
final class Neighbours: Sendable {
    private let reactor: Reactor
    private let outbox: Mailbox<[UInt8]>
    private let seen = NIOLockedValueBox<[Sight]>([])
    private let isUp = NIOLockedValueBox(false)

    init(coalescer: String, fanouts: [PeerAddress]) throws {
        let (seen, isUp) = (self.seen, self.isUp)
        let post = NIOLockedValueBox<Mailbox<[UInt8]>?>(nil)
        self.reactor = try Reactor(
            name: "neighbours", logger: Logger(label: "neighbours") { _ in SwiftLogNoOpLogHandler() }
        ) { thread in
            try Loop(thread, coalescer: coalescer, fanouts: fanouts, outbox: post, seen: seen, isUp: isUp)
        }
        let outbox = Mailbox<[UInt8]>(capacity: 10_000, waker: self.reactor.waker)
        post.withLockedValue { $0 = outbox }
        self.outbox = outbox
        try self.reactor.start()
    }

    /// What the fan-outs have received, in the order in which it came.
    var sights: [Sight] { self.seen.withLockedValue { $0 } }
    /// True while the gateway's link is up.
    var isConnected: Bool { self.isUp.withLockedValue { $0 } }

    /// The gateway sends these previews in one envelope.
    func send(_ previews: Preview...) {
        var envelope = EnvelopeWriter()
        for preview in previews { envelope.append(preview) }
        self.send(bytes: envelope.bytes)
    }

    /// The gateway sends the end of a gesture.
    func send(_ end: GestureEnd) {
        var envelope = EnvelopeWriter()
        envelope.append(end)
        self.send(bytes: envelope.bytes)
    }

    /// The gateway sends these bytes.
    func send(bytes: [UInt8]) { _ = self.outbox.offer(bytes) }

    /// Ends the thread.
    func stop() async throws {
        self.reactor.stop()
        try await self.reactor.ended()
    }

    private final class Loop: ReactorLoop {
        private let gateway: PeerLink
        private let fanouts: [(name: String, link: ServerLink)]
        private let outbox: NIOLockedValueBox<Mailbox<[UInt8]>?>
        private let seen: NIOLockedValueBox<[Sight]>
        private let isUp: NIOLockedValueBox<Bool>
        private var batch: [[UInt8]] = []

        init(
            _ thread: ReactorThread, coalescer: String, fanouts: [PeerAddress],
            outbox: NIOLockedValueBox<Mailbox<[UInt8]>?>, seen: NIOLockedValueBox<[Sight]>,
            isUp: NIOLockedValueBox<Bool>
        ) throws {
            let version = UInt16(EnvelopeWriter.version)
            let identity = LinkIdentity(name: "gateway-1", versions: version...version)
            self.gateway = try PeerLink(on: thread, to: try Endpoint(coalescer), identity: identity)
            self.fanouts = try fanouts.map { fanout in
                let identity = LinkIdentity(name: fanout.name, versions: version...version)
                return (fanout.name, try ServerLink(on: thread, bind: Endpoint(fanout.endpoint), identity: identity))
            }
            self.outbox = outbox
            self.seen = seen
            self.isUp = isUp
        }

        func turn(at now: Instant) -> Instant? {
            while self.gateway.next() != nil {}
            self.isUp.withLockedValue { $0 = self.gateway.peer != nil }
            for fanout in self.fanouts {
                while let event = fanout.link.next() {
                    if case .message = event { self.read(fanout.link.incoming, at: fanout.name) }
                }
            }
            self.outbox.withLockedValue { $0 }?.drain(into: &self.batch)
            for bytes in self.batch { _ = self.gateway.send(bytes) }
            self.batch.removeAll()
            return nil
        }

        private func read(_ frames: Frames, at name: String) {
            frames.withBytes(at: 0) { bytes in
                guard var reader = try? EnvelopeReader(bytes) else { return }
                while let record = try? reader.next(), record.kind == .preview {
                    guard let preview = try? EnvelopeReader.decode(Preview.self, record.fields) else { return }
                    self.seen.withLockedValue { $0.append(Sight(preview: preview, fanout: name)) }
                }
            }
        }
    }
}
