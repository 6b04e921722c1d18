import Boot
import Logging
import Mesh
import NIOConcurrencyHelpers
import Wire

/// What a neighbour of the coalescer saw, in the order in which it came.
enum Sight: Equatable, Sendable {
    case preview(Preview, at: String)
    case commit(Commit, at: String)
}

/// The stages around a coalescer, in one thread of their own: a gateway with both lanes, committers and fan-outs.
final class Neighbours: Sendable {
    private struct Parcelled: Sendable {
        var isPreview: Bool
        var bytes: [UInt8]
    }

    private let reactor: Reactor
    private let outbox: Mailbox<Parcelled>
    private let seen = NIOLockedValueBox<[Sight]>([])
    private let lanesUp = NIOLockedValueBox(0)

    init(coalescer: String, committers: [PeerAddress], fanouts: [PeerAddress]) throws {
        let seen = self.seen
        let lanesUp = self.lanesUp
        let post = NIOLockedValueBox<Mailbox<Parcelled>?>(nil)
        self.reactor = try Reactor(
            name: "neighbours", logger: Logger(label: "neighbours") { _ in SwiftLogNoOpLogHandler() }
        ) { thread in
            try Loop(
                thread, coalescer: coalescer, servers: committers + fanouts, outbox: post, seen: seen,
                lanesUp: lanesUp)
        }
        let outbox = Mailbox<Parcelled>(capacity: 10_000, waker: self.reactor.waker)
        post.withLockedValue { $0 = outbox }
        self.outbox = outbox
        try self.reactor.start()
    }

    /// What the committers and fan-outs have received.
    var sights: [Sight] { self.seen.withLockedValue { $0 } }
    /// True while both lanes of the gateway are up.
    var isConnected: Bool { self.lanesUp.withLockedValue { $0 == 2 } }

    /// The gateway sends these previews in one envelope.
    func send(_ previews: Preview...) {
        var envelope = EnvelopeWriter()
        for preview in previews { envelope.append(preview) }
        self.send(bytes: envelope.bytes, isPreview: true)
    }

    /// The gateway sends these commits in one envelope.
    func send(_ commits: Commit...) {
        var envelope = EnvelopeWriter()
        for commit in commits { envelope.append(commit) }
        self.send(bytes: envelope.bytes, isPreview: false)
    }

    /// The gateway sends these bytes.
    func send(bytes: [UInt8], isPreview: Bool) {
        _ = self.outbox.offer(Parcelled(isPreview: isPreview, bytes: bytes))
    }

    /// Ends the thread.
    func stop() async throws {
        self.reactor.stop()
        try await self.reactor.ended()
    }

    private final class Loop: ReactorLoop {
        private let commits: PeerLink
        private let previews: PeerLink
        private let servers: [(name: String, link: ServerLink)]
        private let outbox: NIOLockedValueBox<Mailbox<Parcelled>?>
        private let seen: NIOLockedValueBox<[Sight]>
        private let lanesUp: NIOLockedValueBox<Int>
        private var batch: [Parcelled] = []

        init(
            _ thread: ReactorThread, coalescer: String, servers: [PeerAddress],
            outbox: NIOLockedValueBox<Mailbox<Parcelled>?>, seen: NIOLockedValueBox<[Sight]>,
            lanesUp: NIOLockedValueBox<Int>
        ) throws {
            let version = UInt16(EnvelopeWriter.version)
            let gateway = LinkIdentity(name: "gateway-1", protocolVersion: version)
            let base = try Endpoint(coalescer)
            self.commits = try PeerLink(on: thread, to: base, identity: gateway)
            self.previews = try PeerLink(on: thread, to: base.lane("previews"), identity: gateway)
            self.servers = try servers.map { server in
                let identity = LinkIdentity(name: server.name, protocolVersion: version)
                return (server.name, try ServerLink(on: thread, bind: Endpoint(server.endpoint), identity: identity))
            }
            self.outbox = outbox
            self.seen = seen
            self.lanesUp = lanesUp
        }

        func turn(now: UInt64) -> UInt64? {
            for link in [self.commits, self.previews] { while link.next() != nil {} }
            self.lanesUp.withLockedValue { $0 = [self.commits, self.previews].count { $0.peer != nil } }
            for server in self.servers {
                while let event = server.link.next() {
                    if case .message = event { self.read(server.link.incoming, at: server.name) }
                }
            }
            self.outbox.withLockedValue { $0 }?.drain(into: &self.batch)
            for parcel in self.batch { _ = (parcel.isPreview ? self.previews : self.commits).send(parcel.bytes) }
            self.batch.removeAll()
            return nil
        }

        private func read(_ frames: Frames, at name: String) {
            frames.withBytes(at: 0) { bytes in
                guard var reader = try? EnvelopeReader(bytes) else { return }
                while let record = try? reader.next() {
                    if let preview = try? EnvelopeReader.decode(Preview.self, record.fields), record.kind == .preview {
                        self.seen.withLockedValue { $0.append(.preview(preview, at: name)) }
                    }
                    if record.kind == .commit, let commit = try? EnvelopeReader.decode(Commit.self, record.fields) {
                        self.seen.withLockedValue { $0.append(.commit(commit, at: name)) }
                    }
                }
            }
        }
    }
}
