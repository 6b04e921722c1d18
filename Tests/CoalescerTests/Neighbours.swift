import Boot
import Logging
import Mesh
import NIOConcurrencyHelpers
import Timing
import TimingTestKit
import Wire

/// What a neighbour of the coalescer saw, in the order in which it came.
enum Sight: Equatable, Sendable {
    case preview(Preview, at: String)
    case commit(Commit, at: String)
}

/// The stages around a coalescer, in one thread of their own: a gateway with both lanes, committers and fan-outs.
final class Neighbours: Sendable {
    private enum Way: Sendable {
        case previews, commits
        /// From every committer back to the coalescer.
        case back
    }

    private struct Parcelled: Sendable {
        var way: Way
        var bytes: [UInt8]
    }

    private let reactor: Reactor
    private let outbox: Mailbox<Parcelled>
    private let seen = NIOLockedValueBox<[Sight]>([])
    private let lanesUp = NIOLockedValueBox(0)
    private let credited = NIOLockedValueBox<[CommitCredit]>([])

    /// - Parameter greeting: what the committers greet with.
    init(coalescer: String, committers: [PeerAddress], fanouts: [PeerAddress], greeting: [UInt8] = []) throws {
        let seen = self.seen
        let credited = self.credited
        let lanesUp = self.lanesUp
        let post = NIOLockedValueBox<Mailbox<Parcelled>?>(nil)
        self.reactor = try Reactor(
            name: "neighbours", logger: Logger(label: "neighbours") { _ in SwiftLogNoOpLogHandler() }
        ) { thread in
            try Loop(
                thread, coalescer: coalescer, committers: committers, fanouts: fanouts, greeting: greeting,
                outbox: post,
                seen: seen, credited: credited, lanesUp: lanesUp)
        }
        let outbox = Mailbox<Parcelled>(capacity: 10_000, waker: self.reactor.waker)
        post.withLockedValue { $0 = outbox }
        self.outbox = outbox
        try self.reactor.start()
    }

    /// What the committers and fan-outs have received.
    var sights: [Sight] { self.seen.withLockedValue { $0 } }
    /// The credit that the gateway got.
    var credits: [CommitCredit] { self.credited.withLockedValue { $0 } }
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
        _ = self.outbox.offer(Parcelled(way: isPreview ? .previews : .commits, bytes: bytes))
    }

    /// Every committer allows so much.
    func allow(_ credit: CommitCredit) {
        var envelope = EnvelopeWriter()
        envelope.append(credit)
        _ = self.outbox.offer(Parcelled(way: .back, bytes: envelope.bytes))
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
        private let committerCount: Int
        private let credited: NIOLockedValueBox<[CommitCredit]>
        private let outbox: NIOLockedValueBox<Mailbox<Parcelled>?>
        private let seen: NIOLockedValueBox<[Sight]>
        private let lanesUp: NIOLockedValueBox<Int>
        private var batch: [Parcelled] = []

        init(
            _ thread: ReactorThread, coalescer: String, committers: [PeerAddress], fanouts: [PeerAddress],
            greeting: [UInt8], outbox: NIOLockedValueBox<Mailbox<Parcelled>?>, seen: NIOLockedValueBox<[Sight]>,
            credited: NIOLockedValueBox<[CommitCredit]>, lanesUp: NIOLockedValueBox<Int>
        ) throws {
            let version = UInt16(EnvelopeWriter.version)
            let gateway = LinkIdentity(name: "gateway-1", versions: version...version)
            let base = try Endpoint(coalescer)
            self.commits = try PeerLink(on: thread, to: base, identity: gateway)
            self.previews = try PeerLink(on: thread, to: base.lane("previews"), identity: gateway)
            self.committerCount = committers.count
            self.credited = credited
            self.servers = try (committers + fanouts).enumerated().map { index, server in
                let greeting = index < committers.count ? greeting : []
                let identity = LinkIdentity(name: server.name, versions: version...version, greeting: greeting)
                return (server.name, try ServerLink(on: thread, bind: Endpoint(server.endpoint), identity: identity))
            }
            self.outbox = outbox
            self.seen = seen
            self.lanesUp = lanesUp
        }

        func turn(at now: Instant) -> Instant? {
            while let event = self.commits.next() {
                if event == .message { self.readCredit(self.commits.incoming) }
            }
            while self.previews.next() != nil {}
            self.lanesUp.withLockedValue { $0 = [self.commits, self.previews].count { $0.peer != nil } }
            for server in self.servers {
                while let event = server.link.next() {
                    if case .message = event { self.read(server.link.incoming, at: server.name) }
                }
            }
            self.outbox.withLockedValue { $0 }?.drain(into: &self.batch)
            for parcel in self.batch {
                switch parcel.way {
                case .previews: _ = self.previews.send(parcel.bytes)
                case .commits: _ = self.commits.send(parcel.bytes)
                case .back: self.sendBack(parcel.bytes)
                }
            }
            self.batch.removeAll()
            return nil
        }

        private func sendBack(_ bytes: [UInt8]) {
            for server in self.servers.prefix(self.committerCount) {
                for peer in server.link.peers { _ = server.link.send(bytes, to: peer) }
            }
        }

        private func readCredit(_ frames: Frames) {
            frames.withBytes(at: 0) { bytes in
                guard var reader = try? EnvelopeReader(bytes) else { return }
                while let record = try? reader.next(), record.kind == .commitCredit {
                    guard let credit = try? EnvelopeReader.decode(CommitCredit.self, record.fields) else { return }
                    self.credited.withLockedValue { $0.append(credit) }
                }
            }
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
