import Glibc
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PipelineTestKit
import Testing
import Timing

@testable import GatewayDaemon
@testable import Mesh

/// Links on an event loop: no signal of libzmq is lost between the two, and nothing is left behind.
@Suite(.timeLimit(.minutes(2))) struct GuestReactorTests {
    private static let logger = Logger(label: "guest-tests") { _ in SwiftLogNoOpLogHandler() }
    private static func identity(_ name: String) -> LinkIdentity { LinkIdentity(name: name, versions: 1...1) }

    /// Sends everything back but empty messages.
    private final class Echo: ReactorLoop {
        private let server: ServerLink

        init(_ thread: ReactorThread, _ endpoint: Endpoint) throws {
            self.server = try ServerLink(on: thread, bind: endpoint, identity: GuestReactorTests.identity("echo"))
        }

        func turn(at now: Instant) -> Instant? {
            while let event = self.server.next() {
                guard case .message(let peer) = event else { continue }
                let bytes = self.server.incoming.bytes(at: 0)
                if !bytes.isEmpty { _ = self.server.send(bytes, to: peer) }
            }
            return nil
        }
    }

    /// Numbers its messages, and sends the next one when the last has come back, up to the next multiple of 256.
    private final class Counter: ReactorLoop {
        private let link: PeerLink
        private let seen: NIOLockedValueBox<Seen>

        init(_ thread: ReactorThread, _ endpoint: Endpoint, _ seen: NIOLockedValueBox<Seen>) throws {
            self.link = try PeerLink(
                on: thread, to: endpoint, identity: GuestReactorTests.identity("guest"),
                options: LinkOptions(sendHighWater: 100_000))
            self.seen = seen
        }

        func turn(at now: Instant) -> Instant? {
            while let event = self.link.next() {
                switch event {
                case .up: self.seen.withLockedValue { $0.ups += 1 }
                case .down: self.seen.withLockedValue { $0.downs += 1 }
                case .message:
                    let number = self.link.incoming.bytes(at: 0).reduce(0) { $0 << 8 | Int($1) }
                    self.seen.withLockedValue { $0.numbers.append(number) }
                    if number & 255 != 255 { self.send(number + 1) }
                case .writable, .resting: break
                }
            }
            return nil
        }

        func send(_ number: Int) {
            _ = self.link.send([UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)])
        }

        func sendNothing() { _ = self.link.send([]) }
    }

    private struct Failure: Error {}

    private struct Seen {
        var (ups, downs, turns) = (0, 0, 0)
        var numbers: [Int] = []
    }

    /// Tells whether a link was signalled, before the event loop looks.
    private final class SignalledHost: ReactorHost {
        private let host: LoopDescriptors
        private var descriptors: [Int32] = []

        init(_ host: LoopDescriptors) { self.host = host }

        func watch(_ descriptor: Int32, signalled: @escaping () -> Void) throws(MeshError) {
            try self.host.watch(descriptor, signalled: signalled)
            self.descriptors.append(descriptor)
        }

        func unwatch(_ descriptor: Int32) {
            self.host.unwatch(descriptor)
            self.descriptors.removeAll { $0 == descriptor }
        }

        func isSignalled(within milliseconds: Int32) -> Bool {
            var entries = self.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            return poll(&entries, nfds_t(entries.count), milliseconds) > 0
        }
    }

    /// A guest, for use on its event loop only.
    private final class Guest: @unchecked Sendable {
        let seen = NIOLockedValueBox(Seen())
        private let eventLoop: any EventLoop
        let host: LoopDescriptors
        private let signals: SignalledHost
        private var reactor: GuestReactor?
        private var counter: Counter?
        private let alarm: LoopAlarm

        init(_ eventLoop: any EventLoop, _ endpoint: Endpoint) throws {
            self.eventLoop = eventLoop
            self.host = LoopDescriptors(eventLoop: eventLoop)
            self.signals = SignalledHost(self.host)
            self.alarm = LoopAlarm(eventLoop: eventLoop)
            let due = { [unowned self] in self.turn() }
            self.reactor = try GuestReactor(on: self.signals, logger: GuestReactorTests.logger, due: due) { thread in
                let counter = try Counter(thread, endpoint, self.seen)
                self.counter = counter
                return counter
            }
            self.alarm.ring = due
            self.turn()
        }

        var waker: Waker? { self.reactor?.waker }

        private func turn() {
            self.seen.withLockedValue { $0.turns += 1 }
            self.alarm.set(self.reactor?.turn())
        }

        /// Sends between two turns, as a gateway does that decided something.
        func send(_ number: Int) {
            self.counter?.send(number)
            self.used()
        }

        /// Sends a message, and when its answer is there, messages that nobody answers until one of them has swallowed the
        /// answer's signal. libzmq looks for signals about once in a millisecond of sends.
        func sendIntoTheAnswer(_ number: Int) throws {
            self.counter?.send(number)
            guard self.signals.isSignalled(within: 10_000) else { throw Failure() }
            var rest = 50_000
            while rest > 0, self.signals.isSignalled(within: 0) {
                self.counter?.sendNothing()
                rest -= 1
            }
            self.used()
        }

        private func used() {
            if self.reactor?.isDueAfterUse() == true { self.alarm.set(MonotonicClock.now()) }
        }

        func close() {
            self.reactor?.close()
            self.reactor = nil
        }
    }

    /// Runs a test with an event loop, and a place for the server.
    private func run(_ body: (any EventLoop, Endpoint) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await body(group.next(), try Endpoint("ipc://\(folder.path)/echo.sock"))
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func echo(at endpoint: Endpoint) throws -> Reactor {
        let reactor = try Reactor(name: "echo", logger: Self.logger) { try Echo($0, endpoint) }
        try reactor.start()
        return reactor
    }

    /// Runs a test with a guest whose link to an echo is up; the link is closed after it.
    private func runLinked(_ body: (any EventLoop, Guest, Linked) async throws -> Void) async throws {
        try await self.run { eventLoop, endpoint in
            let linked = Linked(echo: try self.echo(at: endpoint), endpoint: endpoint)
            let guest = try await eventLoop.submit { try Guest(eventLoop, endpoint) }.get()
            try await eventually("a link") { guest.seen.withLockedValue { $0.ups } == 1 }
            try await body(eventLoop, guest, linked)
            try await eventLoop.submit { guest.close() }.get()
            linked.echo.stop()
            try await linked.echo.ended()
        }
    }

    /// The other end of a guest's link.
    private final class Linked {
        var echo: Reactor
        let endpoint: Endpoint

        init(echo: Reactor, endpoint: Endpoint) {
            self.echo = echo
            self.endpoint = endpoint
        }
    }

    /// Each message waits for the one before: were a signal lost, all would wait for the next heartbeat.
    @Test func noSignalIsLost() async throws {
        try await self.runLinked { eventLoop, guest, _ in
            for round in 0..<20 {
                try await eventLoop.submit { guest.send(round << 8) }.get()
                try await eventually("all answers") {
                    guest.seen.withLockedValue { $0.numbers.count } == (round + 1) << 8
                }
            }
            #expect(guest.seen.withLockedValue { $0.numbers.elementsEqual(0..<20 << 8) })
        }
    }

    /// A send swallows the signal of what has come meanwhile: were it not found, each round would wait for a heartbeat.
    @Test func whatComesBeforeASendIsFound() async throws {
        try await self.runLinked { eventLoop, guest, _ in
            let all = Task {
                for round in 1...100 {
                    try await eventLoop.submit { try guest.sendIntoTheAnswer(round << 8 | 255) }.get()
                    try await eventually("an answer") { guest.seen.withLockedValue { $0.numbers.count } == round }
                }
            }
            try await eventually("all answers") { guest.seen.withLockedValue { $0.numbers.count } == 100 }
            try await all.value
        }
    }

    @Test func aLinkThatComesBackIsWatchedAgainAndNothingElseIs() async throws {
        try await self.runLinked { eventLoop, guest, linked in
            let watched = try await eventLoop.submit { guest.host.count }.get()
            linked.echo.stop()
            try await linked.echo.ended()
            try await eventually("its end") { guest.seen.withLockedValue { $0.downs } == 1 }
            linked.echo = try self.echo(at: linked.endpoint)
            try await eventually("another link") { guest.seen.withLockedValue { $0.ups } == 2 }
            #expect(try await eventLoop.submit { guest.host.count }.get() == watched)
            try await eventLoop.submit { guest.send(1) }.get()
            try await eventually("answers") { guest.seen.withLockedValue { $0.numbers.count } > 10 }
            try await eventLoop.submit { guest.close() }.get()
            #expect(try await eventLoop.submit { guest.host.count }.get() == 0)
        }
    }

    @Test func anyThreadMayAskForATurn() async throws {
        try await self.run { eventLoop, endpoint in
            let guest = try await eventLoop.submit { try Guest(eventLoop, endpoint) }.get()
            let waker = try #require(try await eventLoop.submit { guest.waker }.get())
            for _ in 0..<3 {
                let turns = guest.seen.withLockedValue { $0.turns }
                waker.signal()
                try await eventually("a turn") { guest.seen.withLockedValue { $0.turns } > turns }
            }
            try await eventLoop.submit { guest.close() }.get()
        }
    }

    /// NIO asserts in a debug build that what it found can be read.
    @Test func linksMayBeUsedBetweenTwoSignalsThatWereFoundTogether() async throws {
        try await self.run { eventLoop, _ in
            let signals = try [Waker(), Waker()]
            let found = NIOLockedValueBox(0)
            let host = try await eventLoop.submit {
                let host = NIOLoopBound(LoopDescriptors(eventLoop: eventLoop), eventLoop: eventLoop)
                for signal in signals {
                    try host.value.watch(signal.descriptor) {
                        found.withLockedValue { $0 += 1 }
                        host.value.standBack()
                        for signal in signals { signal.acknowledge() }
                    }
                }
                return host
            }.get()
            for round in 1...100 {
                try await eventLoop.submit { for signal in signals { signal.signal() } }.get()
                try await eventually("a signal") { found.withLockedValue { $0 } >= round }
            }
            // Each round found one of the two: it takes out both.
            #expect(found.withLockedValue { $0 } == 100)
            try await eventLoop.submit { for signal in signals { host.value.unwatch(signal.descriptor) } }.get()
        }
    }

    @Test func oneWhoseLoopCannotBeMadeLeavesNothingBehind() async throws {
        try await self.run { eventLoop, endpoint in
            let left = try await eventLoop.submit {
                let host = LoopDescriptors(eventLoop: eventLoop)
                #expect(throws: Failure.self) {
                    let due = {}
                    return try GuestReactor(on: host, logger: Self.logger, due: due) { thread in
                        _ = try PeerLink(on: thread, to: endpoint, identity: Self.identity("guest"))
                        throw Failure()
                    }
                }
                return host.count
            }.get()
            #expect(left == 0)
        }
    }
}
