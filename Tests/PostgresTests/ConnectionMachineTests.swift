import PipelineTestKit
import Testing
import Timing
import TimingTestKit

@testable import Postgres

typealias TestMachine = ConnectionMachine<String, String>
typealias TestEvent = ConnectionEvent<String>

/// A machine with its clock and what it said, so that a test reads as a transcript.
struct MachineBench {
    var machine: TestMachine
    var clock = ManualClock()
    var events: [TestEvent] = []

    init(hosts: Int = 1, statements: Int = 0, seed: UInt64 = 7, limits: TestMachine.Limits = .init()) {
        machine = TestMachine(
            limits: limits, hosts: hosts, statements: statements,
            backoff: ConnectionBackoff(minimum: 50_000_000, maximum: 2_000_000_000, seed: seed))
    }

    mutating func take() -> [TestEvent] {
        defer { events = [] }
        return events
    }

    mutating func tick() -> TestMachine.Transition { machine.timeReached(clock.now, into: &events) }

    mutating func reply(_ reply: TestMachine.Reply) -> TestMachine.Transition {
        machine.received(reply, at: clock.now, into: &events)
    }

    mutating func submit(_ tag: UInt64, statement: Int? = nil, seconds: Int64 = 10, bytes: Int = 1) -> Submission {
        var deadline = clock
        deadline.advance(by: .seconds(seconds))
        return machine.submit("p\(tag)", statement: statement, bytes: bytes, tag: tag, deadline: deadline.now)
    }

    mutating func send() -> TestMachine.Command? { machine.nextToSend(at: clock.now)?.0 }

    /// Through the set-up to ready; what was said is forgotten.
    mutating func becomeReady() {
        if machine.phase == .idle { machine.start(at: clock.now) }
        if let due = machine.nextDeadline, due > clock.now {
            clock.advance(by: .nanoseconds(due.elapsed(since: clock.now).count))
        }
        #expect(tick() != .none)
        machine.opened(at: clock.now)
        while send() != nil || machine.awaited != nil {
            _ = reply(.rows("ok"))
            _ = reply(.synced)
        }
        #expect(machine.isReady)
        events = []
    }
}

@Suite("Connection machine")
struct ConnectionMachineTests {
    let broken = PostgresError(.connectionFailure, "gone", outcome: .notExecuted)

    @Test func restsOnlyWhileItIsReadyAndNobodyWaits() {
        var bench = MachineBench()
        #expect(!bench.machine.isAtRest)
        bench.becomeReady()
        #expect(bench.machine.isAtRest && bench.machine.nextDeadline == nil)
        #expect(bench.submit(1) == .accepted)
        #expect(!bench.machine.isAtRest, "it waits for the wire")
        #expect(bench.send() == .request(1))
        #expect(!bench.machine.isAtRest, "it waits for its answer")
        _ = bench.reply(.rows("r"))
        #expect(!bench.machine.isAtRest, "it waits for its Sync")
        _ = bench.reply(.synced)
        #expect(bench.machine.isAtRest)
        bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
        #expect(!bench.machine.isAtRest && bench.machine.nextDeadline != nil)
    }

    @Test func connectsSetsTheSessionUpPreparesIsReady() {
        var bench = MachineBench(statements: 2)
        #expect(bench.machine.nextDeadline == nil)
        #expect(bench.submit(1) == .notReady)
        bench.machine.start(at: bench.clock.now)
        #expect(bench.machine.nextDeadline == bench.clock.now)
        #expect(bench.tick() == .open(host: 0))
        #expect(bench.tick() == .none)
        #expect(bench.machine.nextDeadline == bench.clock.now + 3_000_000_000)
        #expect(bench.send() == nil)
        bench.machine.opened(at: bench.clock.now)
        #expect(bench.send() == .session)
        #expect(bench.send() == .identity)
        #expect(bench.send() == .prepare(0))
        #expect(bench.send() == .prepare(1))
        #expect(bench.send() == nil)
        var facts = ServerFacts()
        facts.host = "h"
        #expect(bench.reply(.facts(facts)) == .none)
        #expect(bench.reply(.synced) == .none)
        #expect(bench.reply(.identity(systemIdentifier: 9, timeline: 3)) == .none)
        #expect(bench.reply(.synced) == .none)
        #expect(bench.reply(.rows("")) == .none)
        #expect(bench.reply(.synced) == .none)
        #expect(bench.submit(1) == .notReady)
        #expect(bench.take() == [])
        #expect(bench.reply(.rows("")) == .none)
        #expect(bench.reply(.synced) == .none)
        facts.systemIdentifier = 9
        facts.timeline = 3
        #expect(bench.take() == [.connected(facts)])
        #expect(bench.machine.isReady)
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test func aRoleThatMayNotReadTheIdentityIsConnectedAllTheSame() {
        var bench = MachineBench()
        bench.machine.start(at: bench.clock.now)
        _ = bench.tick()
        bench.machine.opened(at: bench.clock.now)
        _ = (bench.send(), bench.send())
        _ = (bench.reply(.facts(ServerFacts())), bench.reply(.synced))
        _ = bench.reply(.failed(PostgresError(.insufficientPrivilege, "no"), endsSession: false))
        #expect(bench.reply(.synced) == .none)
        #expect(bench.take() == [.connected(ServerFacts())])
    }

    @Test func answersComeInOrderAndANeighboursErrorTouchesNobody() {
        var bench = MachineBench()
        bench.becomeReady()
        for tag in 1...3 as ClosedRange<UInt64> { #expect(bench.submit(tag) == .accepted) }
        for tag in 1...3 as ClosedRange<UInt64> { #expect(bench.send() == .request(tag)) }
        #expect(bench.reply(.rows("a")) == .none)
        #expect(bench.reply(.synced) == .none)
        let error = PostgresError(.checkViolation, "no")
        #expect(bench.reply(.failed(error, endsSession: false)) == .none)
        #expect(bench.take() == [.rows(1, "a")])
        #expect(bench.reply(.synced) == .none)
        #expect(bench.reply(.rows("c")) == .none)
        #expect(bench.reply(.synced) == .none)
        #expect(bench.take() == [.failed(2, error), .rows(3, "c")])
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test func aResultWithoutItsSyncProvesNothing() {
        var bench = MachineBench()
        bench.becomeReady()
        _ = (bench.submit(1), bench.send())
        #expect(bench.reply(.rows("a")) == .none)
        #expect(bench.take() == [])
        bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
        #expect(bench.take() == [.failed(1, broken.with(.unknown)), .disconnected(broken)])
    }

    @Test func anErrorAfterTheResultAtTheCommitIsTheAnswer() {
        var bench = MachineBench()
        bench.becomeReady()
        _ = (bench.submit(1), bench.send())
        let error = PostgresError(.foreignKeyViolation, "deferred")
        _ = (bench.reply(.rows("a")), bench.reply(.failed(error, endsSession: false)), bench.reply(.synced))
        #expect(bench.take() == [.failed(1, error)])
    }

    @Test func aWarningBetweenResultAndSyncMakesTheOutcomeUnknownForThatRequestOnly() {
        var bench = MachineBench()
        bench.becomeReady()
        _ = (bench.submit(1), bench.submit(2), bench.send(), bench.send())
        _ = (bench.reply(.rows("a")), bench.reply(.warning("canceling wait for synchronous replication")))
        _ = (bench.reply(.synced), bench.reply(.rows("b")), bench.reply(.synced))
        let unknown = PostgresError(.warning, "canceling wait for synchronous replication", outcome: .unknown)
        #expect(bench.take() == [.failed(1, unknown), .rows(2, "b")])
        #expect(unknown.isRetriable)
    }

    @Test("a lost connection: unknown on the wire, not executed off it, then the farewell")
    func lost() {
        var limits = TestMachine.Limits()
        limits.maximumInFlight = 1
        var bench = MachineBench(limits: limits)
        bench.becomeReady()
        _ = (bench.submit(1), bench.submit(2), bench.send())
        #expect(bench.send() == nil)
        bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
        #expect(
            bench.take() == [
                .failed(1, broken.with(.unknown)), .failed(2, broken.with(.notExecuted)), .disconnected(broken),
            ])
        #expect(bench.submit(3) == .notReady)
        bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
        #expect(bench.take() == [])
    }

    @Test("deadlines: unsent comes back alone, in flight costs the connection")
    func deadlines() {
        var limits = TestMachine.Limits()
        limits.maximumInFlight = 1
        var bench = MachineBench(limits: limits)
        bench.becomeReady()
        _ = (bench.submit(1, seconds: 5), bench.submit(2, seconds: 1), bench.submit(3, seconds: 9), bench.send())
        #expect(bench.machine.nextDeadline == bench.clock.now + 1_000_000_000)
        bench.clock.advance(by: .seconds(1))
        #expect(bench.tick() == .none)
        let late = PostgresError(.queryCanceled, "deadline passed before it was sent", outcome: .notExecuted)
        #expect(bench.take() == [.failed(2, late)])
        bench.clock.advance(by: .seconds(4))
        #expect(bench.tick() == .drop)
        let error = PostgresError(.queryCanceled, "deadline of a request passed", outcome: .notExecuted)
        #expect(
            bench.take() == [.failed(1, error.with(.unknown)), .failed(3, error), .disconnected(error)])
    }

    @Test("26000: the request fails, its statement is prepared again before the next")
    func preparedAgain() {
        var bench = MachineBench(statements: 2)
        bench.becomeReady()
        _ = (bench.submit(1, statement: 1), bench.submit(2, statement: 1), bench.send(), bench.send())
        let error = PostgresError(.invalidStatementName, "gone")
        _ = (bench.reply(.failed(error, endsSession: false)), bench.reply(.synced))
        _ = (bench.reply(.failed(error, endsSession: false)), bench.reply(.synced))
        #expect(bench.take() == [.failed(1, error), .failed(2, error)])
        #expect(error.isRetriable)
        #expect(bench.submit(3, statement: 1) == .accepted)
        #expect(bench.send() == .prepare(1))
        #expect(bench.send() == .request(3))
        _ = (
            bench.reply(.failed(PostgresError(.duplicateStatement, "there"), endsSession: false)), bench.reply(.synced)
        )
        _ = (bench.reply(.rows("c")), bench.reply(.synced))
        #expect(bench.take() == [.rows(3, "c")])
    }

    @Test("a read-only server: what is in flight is answered, then another connection, another host first")
    func readOnly() {
        var bench = MachineBench(hosts: 2)
        bench.becomeReady()
        _ = (bench.submit(1), bench.submit(2), bench.send(), bench.send())
        let error = PostgresError(.readOnlyTransaction, "read-only")
        _ = bench.reply(.failed(error, endsSession: false))
        #expect(bench.reply(.synced) == .none)
        #expect(bench.submit(3) == .notReady)
        _ = bench.reply(.failed(error, endsSession: false))
        #expect(bench.reply(.synced) == .drop)
        #expect(
            bench.take() == [.failed(1, error), .failed(2, error), .disconnected(error.with(.notExecuted))])
        #expect(error.isRetriable)
        bench.clock.advance(by: .seconds(1))
        #expect(bench.tick() == .open(host: 1))
    }

    @Test("a server that is turned away: what is in flight is answered, then the next host")
    func turnedAway() {
        var bench = MachineBench(hosts: 2)
        bench.becomeReady()
        _ = (bench.submit(1), bench.send())
        let reason = PostgresError(.rejected, "not this one")
        #expect(bench.machine.reject(reason, at: bench.clock.now, into: &bench.events) == .none)
        #expect(bench.submit(2) == .notReady)
        _ = bench.reply(.rows("ok"))
        #expect(bench.reply(.synced) == .drop)
        #expect(bench.take() == [.rows(1, "ok"), .disconnected(reason.with(.notExecuted))])
        bench.becomeReady()
        #expect(bench.machine.host == 1)
        #expect(bench.machine.reject(reason, at: bench.clock.now, into: &bench.events) == .drop)
        #expect(bench.machine.reject(reason, at: bench.clock.now, into: &bench.events) == .none)
    }

    @Test("FATAL in an answer: unknown, and the connection is dropped")
    func fatal() {
        var bench = MachineBench()
        bench.becomeReady()
        _ = (bench.submit(1), bench.submit(2), bench.send(), bench.send())
        let error = PostgresError(.adminShutdown, "terminating")
        #expect(bench.reply(.failed(error, endsSession: true)) == .drop)
        #expect(
            bench.take() == [
                .failed(1, error.with(.unknown)), .failed(2, error.with(.unknown)),
                .disconnected(error.with(.notExecuted)),
            ])
    }

    @Test(arguments: [1, 2, 99] as [UInt64])
    func hostsInTurnWithoutAPauseThenPausesThatDoubleUpToTheMaximum(seed: UInt64) {
        var bench = MachineBench(hosts: 3, seed: seed)
        bench.machine.start(at: bench.clock.now)
        var ceiling = Nanoseconds.milliseconds(50)
        for round in 0..<8 {
            for host in 0..<3 {
                #expect(bench.tick() == .open(host: host), "seed \(seed), round \(round)")
                bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
                #expect(bench.take() == [.attemptFailed(broken)])
            }
            let pause = (bench.machine.nextDeadline ?? .start).elapsed(since: bench.clock.now)
            #expect(pause >= ceiling / 2 && pause <= ceiling, "seed \(seed), round \(round)")
            #expect(bench.tick() == .none)
            bench.clock.advance(by: .nanoseconds(pause.count))
            ceiling = min(2_000_000_000, ceiling * 2)
        }
    }

    @Test func aHostThatDoesNotAnswerCostsItsOwnTimeoutOnly() {
        var bench = MachineBench(hosts: 2)
        bench.machine.start(at: bench.clock.now)
        #expect(bench.tick() == .open(host: 0))
        bench.clock.advance(by: .seconds(3))
        #expect(bench.tick() == .drop)
        #expect(bench.tick() == .open(host: 1))
    }

    @Test func aServerThatFallsSilentIsTriedLast() {
        var bench = MachineBench(hosts: 2)
        bench.becomeReady()
        _ = (bench.submit(1, seconds: 5), bench.send())
        bench.clock.advance(by: .seconds(5))
        #expect(bench.tick() == .drop)
        bench.clock.advance(by: .seconds(1))
        #expect(bench.tick() == .open(host: 1))
    }

    @Test("a statement that cannot be prepared keeps the connection from being ready, and it tries again")
    func setupFails() {
        var bench = MachineBench(statements: 1)
        bench.machine.start(at: bench.clock.now)
        _ = bench.tick()
        bench.machine.opened(at: bench.clock.now)
        _ = (bench.send(), bench.send(), bench.send())
        _ = (bench.reply(.rows("")), bench.reply(.synced), bench.reply(.rows("")), bench.reply(.synced))
        let error = PostgresError(.undefinedTable, "no table yet")
        _ = bench.reply(.failed(error, endsSession: false))
        #expect(bench.reply(.synced) == .drop)
        #expect(bench.take() == [.attemptFailed(error.with(.notExecuted))])
        bench.becomeReady()
    }

    @Test("bounds: in flight, queued, bytes")
    func bounds() {
        var limits = TestMachine.Limits()
        limits.maximumInFlight = 2
        limits.maximumQueued = 3
        limits.maximumQueuedBytes = 10
        var bench = MachineBench(limits: limits)
        bench.becomeReady()
        #expect(bench.submit(1, bytes: 100) == .accepted)
        #expect(bench.submit(2, bytes: 1) == .full)
        #expect(bench.send() == .request(1))
        #expect(bench.submit(3, bytes: 4) == .accepted)
        #expect(bench.submit(4, bytes: 6) == .accepted)
        #expect(bench.submit(5, bytes: 1) == .full)
        #expect(bench.submit(6, bytes: 0) == .accepted)
        #expect(bench.submit(7, bytes: 0) == .full)
        #expect(bench.send() == .request(3))
        #expect(bench.send() == nil)
        #expect(bench.submit(8, bytes: .max) == .full)
    }

    @Test("closed: everything comes back, every event is accepted quietly")
    func closed() {
        var bench = MachineBench()
        bench.becomeReady()
        _ = (bench.submit(1), bench.send(), bench.submit(2))
        bench.machine.close(into: &bench.events)
        #expect(bench.take().count == 2)
        #expect(bench.tick() == .none)
        #expect(bench.reply(.synced) == .none)
        #expect(bench.submit(3) == .notReady)
        #expect(bench.send() == nil)
        bench.machine.opened(at: bench.clock.now)
        bench.machine.start(at: bench.clock.now)
        bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
        #expect(bench.tick() == .none)
        #expect(bench.take() == [])
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func whateverHappensEachAcceptedRequestComesBackExactlyOnce(seed: UInt64) {
        var random = Jitter(state: seed)
        var limits = TestMachine.Limits()
        limits.maximumInFlight = 3
        limits.maximumQueued = 4
        var bench = MachineBench(hosts: 2, statements: 1, seed: seed, limits: limits)
        bench.machine.start(at: bench.clock.now)
        var accepted: Set<UInt64> = []
        var sent: Set<UInt64> = []
        for step in 0..<1000 as Range<UInt64> {
            switch UInt64.random(in: 0..<12, using: &random) {
            case 0...2:
                if bench.submit(step, statement: 0, seconds: Int64.random(in: 1...20, using: &random)) == .accepted {
                    accepted.insert(step)
                }
            case 3...5: if case .request(let tag) = bench.send() { sent.insert(tag) }
            case 6: _ = bench.reply(.rows("r"))
            case 7...8: _ = (bench.reply(.rows("r")), bench.reply(.synced))
            case 9:
                let states: [SQLState] = [.checkViolation, .invalidStatementName, .readOnlyTransaction, .adminShutdown]
                let state = states.randomElement(using: &random) ?? .checkViolation
                _ = bench.reply(.failed(PostgresError(state, "e"), endsSession: Bool.random(using: &random)))
            case 10:
                bench.clock.advance(by: .milliseconds(Int64.random(in: 0...2000, using: &random)))
                while bench.tick() != .none {}
                bench.machine.opened(at: bench.clock.now)
            default:
                if UInt64.random(in: 0..<8, using: &random) == 0 {
                    bench.machine.connectionLost(broken, at: bench.clock.now, into: &bench.events)
                }
            }
            #expect(bench.machine.inFlight.count <= 3 && bench.machine.queue.count <= 4, "seed \(seed)")
            #expect(bench.machine.queuedBytes == bench.machine.queue.count, "seed \(seed)")
        }
        bench.machine.close(into: &bench.events)
        var returned: [UInt64] = []
        for event in bench.take() {
            switch event {
            case .rows(let tag, _): returned.append(tag)
            case .failed(let tag, let error):
                returned.append(tag)
                #expect(sent.contains(tag) || error.outcome == .notExecuted, "seed \(seed): \(tag) was never sent")
                #expect(!sent.contains(tag) || error.outcome != .notExecuted, "seed \(seed): \(tag) was sent")
            default: break
            }
        }
        #expect(!sent.isEmpty, "seed \(seed) tested nothing")
        #expect(returned.count == accepted.count && Set(returned) == accepted, "seed \(seed)")
    }
}
