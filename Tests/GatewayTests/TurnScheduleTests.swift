import GatewayCore
import NIOCore
import NIOEmbedded
import Testing
import Timing

@testable import GatewayDaemon

/// The loop never sleeps: a pause only moves the next turn.
@Suite struct TurnScheduleTests {
    private let eventLoop = EmbeddedEventLoop()

    private func schedule(pause: TimeAmount) -> TurnSchedule {
        // Some clock readings lie before the first pause.
        self.eventLoop.advanceTime(by: .seconds(5))
        return TurnSchedule(
            eventLoop: self.eventLoop, pause: TurnPause(length: Nanoseconds(UInt64(pause.nanoseconds))))
    }

    /// Ends turns with commits until one of them asks for a pause.
    private func makeBusy(_ turns: TurnSchedule) {
        for commits in 1...100 where !turns.isPausing {
            self.eventLoop.advanceTime(by: .microseconds(100))
            turns.turnEnded(commits: UInt64(commits))
        }
    }

    @Test func turnRunsInTheNextIterationOfTheLoop() {
        let turns = self.schedule(pause: .milliseconds(1))
        var count = 0
        turns.schedule { count += 1 }
        turns.schedule { count += 10 }
        #expect(count == 0)
        self.eventLoop.run()
        #expect(count == 1)
        turns.schedule { count += 1 }
        self.eventLoop.run()
        #expect(count == 2)
    }

    @Test func pauseDelaysTheNextTurnButNotTheLoop() {
        let turns = self.schedule(pause: .milliseconds(1))
        self.makeBusy(turns)
        #expect(turns.isPausing)
        var ran: [String] = []
        turns.schedule { ran.append("turn") }
        turns.schedule { ran.append("second") }
        self.eventLoop.execute { ran.append("read") }
        self.eventLoop.scheduleTask(in: .microseconds(200)) { ran.append("timer") }
        self.eventLoop.advanceTime(by: .microseconds(300))
        #expect(ran == ["read", "timer"])
        self.eventLoop.advanceTime(by: .milliseconds(1))
        #expect(ran == ["read", "timer", "turn"])
        #expect(!turns.isPausing)
    }

    @Test func anOverdueTurnRunsBetweenReadsOnceInAMillisecond() {
        let turns = self.schedule(pause: .milliseconds(1))
        var count = 0
        let turn = {
            count += 1
            // What a turn closes is no reason for another one in it.
            turns.schedule {}
            turns.runIfOverdue(at: self.eventLoop.now + .seconds(1)) { count += 100 }
        }
        let begin = self.eventLoop.now
        turns.runIfOverdue(at: begin + .milliseconds(2), turn)
        #expect(count == 0)
        turns.schedule { count += 10 }
        for microseconds in stride(from: 0 as Int64, through: 3000, by: 100) {
            turns.runIfOverdue(at: begin + .microseconds(microseconds), turn)
        }
        #expect(count == 2)
        self.eventLoop.run()
        #expect(count == 12)
    }

    @Test func anOverdueTurnWaitsForAPause() {
        let turns = self.schedule(pause: .milliseconds(5))
        self.makeBusy(turns)
        var count = 0
        turns.schedule {}
        turns.runIfOverdue(at: self.eventLoop.now + .milliseconds(2)) { count += 1 }
        #expect(count == 0)
        turns.runIfOverdue(at: self.eventLoop.now + .milliseconds(6)) { count += 1 }
        #expect(count == 1)
    }

    @Test func turnsWithoutCommitsPauseNothing() {
        let turns = self.schedule(pause: .milliseconds(1))
        for _ in 0..<100 {
            self.eventLoop.advanceTime(by: .microseconds(100))
            turns.turnEnded(commits: 1)
        }
        #expect(!turns.isPausing)
    }

    @Test func noPauseWithoutALength() {
        let turns = self.schedule(pause: .zero)
        self.makeBusy(turns)
        #expect(!turns.isPausing)
    }
}
