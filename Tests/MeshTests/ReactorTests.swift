import Glibc
import NIOConcurrencyHelpers
import PipelineTestKit
import Testing
import Timing
import TimingTestKit

@testable import Mesh

@Suite(.timeLimit(.minutes(1)))
struct ReactorTests {
    struct Failure: Error {}

    @Test func whatMakeThrowsComesOutOfRun() async throws {
        let reactor = try Reactor(name: "failing", logger: silentLogger) { thread in
            let directory = try TemporaryFolder()
            // A link that was open already is closed again.
            _ = try ServerLink(
                on: thread, bind: try directory.endpoint(),
                identity: LinkIdentity(name: "x", versions: version...version))
            throw Failure()
        }
        await #expect(throws: Failure.self) { try await reactor.run() }
    }

    @Test func stopBeforeTheStartEndsItAtOnce() async throws {
        let reactor = try Reactor(name: "early", logger: silentLogger) { thread in
            ProbeLoop(thread, Mailbox(capacity: 1) {}, ProbeRecord())
        }
        try await reactor.ended()  // Never started.
        reactor.stop()
        try await reactor.run()
        try await reactor.run()  // Ended already.
    }

    @Test func cancellationStopsIt() async throws {
        let probe = try Probe { _ in }
        let task = Task { try await probe.reactor.run() }
        try await eventually("a turn") { probe.turns > 0 }
        task.cancel()
        try await task.value
    }

    @Test func deadlinesAreKeptAndNothingSpins() async throws {
        final class Clockwork: ReactorLoop {
            let turns: NIOLockedValueBox<[Instant]>
            init(_ turns: NIOLockedValueBox<[Instant]>) { self.turns = turns }
            func turn(at now: Instant) -> Instant? {
                self.turns.withLockedValue { $0.append(now) }
                return now + 20 * millisecond
            }
        }
        let turns = NIOLockedValueBox<[Instant]>([])
        let reactor = try Reactor(name: "clockwork", logger: silentLogger) { _ in Clockwork(turns) }
        try reactor.start()
        try await eventually("ten turns") { turns.withLockedValue { $0.count } >= 10 }
        reactor.stop()
        try await reactor.ended()
        let times = turns.withLockedValue { $0 }
        // The last turn is the stop's. Never early; how late is the machine's business.
        for (first, next) in zip(times, times.dropFirst()).dropLast() { #expect(next >= first + 20 * millisecond) }
    }

    @Test func idleLinksTakeFewTurns() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let dial = try Probe.dial(try directory.endpoint())
        try await dial.sees(.up("server"))
        try await eventually("beats") { dial.dial.beats >= 2 && server.server.beats >= 2 }
        #expect(dial.turns < 40 && server.turns < 40)
        try await dial.stop()
        try await server.stop()
    }

    @Test func anIdleLoopBeats() async throws {
        final class Idle: ReactorLoop {
            func turn(at now: Instant) -> Instant? { nil }
        }
        let beats = NIOLockedValueBox(0)
        let beat: @Sendable () -> Void = { beats.withLockedValue { $0 += 1 } }
        let reactor = try Reactor(name: "idle", logger: silentLogger, beat: beat) { _ in Idle() }
        try reactor.start()
        try await eventually("beats") { beats.withLockedValue { $0 } >= 3 }
        reactor.stop()
        try await reactor.ended()
    }

    @Test func foreignDescriptorsAreWatched() async throws {
        final class Watcher: ReactorLoop {
            let source: DescriptorSource
            let seen: NIOLockedValueBox<[String]>
            init(_ source: DescriptorSource, _ seen: NIOLockedValueBox<[String]>) {
                self.source = source
                self.seen = seen
            }
            func turn(at now: Instant) -> Instant? {
                if self.source.isReadable {
                    var byte: UInt8 = 0
                    let count = read(self.source.descriptor, &byte, 1)
                    self.seen.withLockedValue { $0.append(count == 1 ? "read \(byte)" : "end") }
                    if count == 1 { self.source.interest = [.read, .write] } else { self.source.interest = [] }
                }
                if self.source.isWritable, self.source.interest.contains(.write) {
                    self.seen.withLockedValue { $0.append("writable") }
                    self.source.interest = .read
                }
                return nil
            }
            func stopped() { self.source.cancel() }
        }
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let (ours, theirs) = (pair[0], pair[1])
        let seen = NIOLockedValueBox<[String]>([])
        let reactor = try Reactor(name: "watcher", logger: silentLogger) { thread in
            Watcher(thread.watch(descriptor: theirs, interest: .read), seen)
        }
        try reactor.start()
        var byte: UInt8 = 7
        #expect(write(ours, &byte, 1) == 1)
        try await eventually("both") { seen.withLockedValue { $0 } == ["read 7", "writable"] }
        close(ours)
        try await eventually("the end") { seen.withLockedValue { $0.last } == "end" }
        reactor.stop()
        try await reactor.ended()
        // With no interest a hang-up wakes nobody.
        #expect(seen.withLockedValue { $0 } == ["read 7", "writable", "end"])
        close(theirs)
    }

    @Test func drainingTakesTurnsUntilItIsDoneOrTheLimitPasses() async throws {
        let probe = try Probe(drainLimit: .seconds(60)) { $0.drained = false }
        probe.reactor.stop()
        let before = probe.turns
        try await eventually("more turns while draining") {
            probe.post { _ in }
            return probe.turns > before + 3
        }
        probe.post { $0.drained = true }
        try await probe.reactor.ended()

        let stubborn = try Probe(drainLimit: .milliseconds(50)) { $0.drained = false }
        try await stubborn.stop()
    }

    #if DEBUG
        @Test func foreignThreadsTrapInDebugBuilds() async {
            await #expect(processExitsWith: .failure) {
                let context = try MeshContext()
                let socket = UncheckedBox(try Socket(.dealer, context: context, options: LinkOptions()))
                var thread = pthread_t()
                pthread_create(
                    &thread, nil,
                    { raw in
                        guard let raw else { return nil }
                        Unmanaged<UncheckedBox>.fromOpaque(raw).takeUnretainedValue().socket.setLinger(.zero)
                        return nil
                    }, Unmanaged.passUnretained(socket).toOpaque())
                pthread_join(thread, nil)
                exit(0)
            }
        }
    #endif
}

private final class UncheckedBox {
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
}
