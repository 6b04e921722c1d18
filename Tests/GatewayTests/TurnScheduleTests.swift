import NIOCore
import NIOEmbedded
import Testing

@testable import GatewayDaemon

@Suite struct TurnScheduleTests {
    private let eventLoop = EmbeddedEventLoop()

    @Test func turnRunsInTheNextIterationOfTheLoop() {
        let turns = TurnSchedule(eventLoop: self.eventLoop)
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

    @Test func anOverdueTurnRunsBetweenReadsOnceInAMillisecond() {
        let turns = TurnSchedule(eventLoop: self.eventLoop)
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
}
