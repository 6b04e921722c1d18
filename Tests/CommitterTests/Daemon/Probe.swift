import Boot
import Logging
import Mesh
import NIOConcurrencyHelpers
import PipelineTestKit
import Timing
import TimingTestKit
import Wire

/// A scripted gateway and fan-out on one thread: sends commits to committers, keeps results and updates.
final class Probe: Sendable {
    /// What a test asks for.
    enum Order: Sendable {
        case commit(Commit, committer: Int)
    }

    struct Seen: Sendable {
        var results: [CommitResult] = []
        var updates: [Update] = []
        var up: Set<Int> = []
        /// Those that are up and rest, and how often one began to.
        var resting: Set<Int> = []
        var rests = 0
        var goodbyes = 0
    }

    let fanout: String
    private let reactor: Reactor
    private let orders: Mailbox<Order>
    private let seen: NIOLockedValueBox<Seen>

    /// - Parameter committers: where they listen.
    init(folder: String, committers: [String]) throws {
        let logger = Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() }
        let fanout = "ipc://\(folder)/fanout.sock"
        let seen = NIOLockedValueBox(Seen())
        let waiting = NIOLockedValueBox<Mailbox<Order>?>(nil)
        let reactor = try Reactor(name: "probe", logger: logger) { thread in
            try ProbeLoop(on: thread, fanout: fanout, committers: committers, seen: seen, orders: waiting)
        }
        let orders = Mailbox<Order>(capacity: 100_000, waker: reactor.waker)
        waiting.withLockedValue { $0 = orders }
        self.fanout = fanout
        self.seen = seen
        self.reactor = reactor
        self.orders = orders
        try reactor.start()
    }

    var now: Seen { self.seen.withLockedValue { $0 } }

    func send(_ commit: Commit, to committer: Int = 0) {
        _ = self.orders.offer(.commit(commit, committer: committer))
    }

    /// Waits until what it saw is so.
    func until(_ what: String, within limit: Duration = .seconds(20), _ isSo: (Seen) -> Bool) async throws {
        try await eventually(what, within: limit) { isSo(self.now) }
    }

    func stop() async throws {
        self.reactor.stop()
        try await self.reactor.ended()
    }
}

private final class ProbeLoop: ReactorLoop {
    private let links: [PeerLink]
    private let server: ServerLink
    private let seen: NIOLockedValueBox<Probe.Seen>
    private let orders: NIOLockedValueBox<Mailbox<Probe.Order>?>
    private var batch: [Probe.Order] = []
    private var waiting: [Probe.Order] = []

    init(
        on thread: ReactorThread, fanout: String, committers: [String], seen: NIOLockedValueBox<Probe.Seen>,
        orders: NIOLockedValueBox<Mailbox<Probe.Order>?>
    ) throws {
        let version = UInt16(EnvelopeWriter.version)
        self.server = try ServerLink(
            on: thread, bind: Endpoint(fanout), identity: LinkIdentity(name: "fanout-1", versions: version...version))
        self.links = try committers.map {
            try PeerLink(
                on: thread, to: Endpoint($0), identity: LinkIdentity(name: "gateway-1", versions: version...version))
        }
        self.seen = seen
        self.orders = orders
    }

    func turn(at now: Instant) -> Instant? {
        for (index, link) in self.links.enumerated() {
            while let event = link.next() {
                switch event {
                case .up:
                    self.seen.withLockedValue { _ = $0.up.insert(index) }
                    self.rests(index, link.isResting)
                case .down(let loss):
                    self.seen.withLockedValue {
                        $0.up.remove(index)
                        if loss == .goodbye { $0.goodbyes += 1 }
                    }
                case .message: self.read(link.incoming)
                case .resting(let isResting): self.rests(index, isResting)
                case .writable: break
                }
            }
        }
        while let event = self.server.next() {
            if case .message = event { self.read(self.server.incoming) }
        }
        self.orders.withLockedValue { $0 }?.drain(into: &self.batch)
        for case .commit(let commit, let committer) in self.batch {
            var envelope = EnvelopeWriter()
            envelope.append(commit)
            _ = self.links[committer].send(envelope.bytes)
        }
        return nil
    }

    private func rests(_ index: Int, _ isResting: Bool) {
        self.seen.withLockedValue {
            if isResting, $0.resting.insert(index).inserted { $0.rests += 1 }
            if !isResting { $0.resting.remove(index) }
        }
    }

    private func read(_ frames: Frames) {
        let found: ([CommitResult], [Update]) = frames.withBytes(at: 0) { bytes in
            var results: [CommitResult] = []
            var updates: [Update] = []
            do throws(EnvelopeError) {
                var reader = try EnvelopeReader(bytes)
                while let (kind, fields) = try reader.next() {
                    if kind == .commitResult { results.append(try EnvelopeReader.decode(CommitResult.self, fields)) }
                    if kind == .update { updates.append(try EnvelopeReader.decode(Update.self, fields)) }
                }
            } catch {}
            return (results, updates)
        }
        self.seen.withLockedValue {
            $0.results += found.0
            $0.updates += found.1
        }
    }
}
