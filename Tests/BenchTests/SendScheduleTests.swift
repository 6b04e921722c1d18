import Testing

@testable import bench

@Suite struct SendScheduleTests {
    @Test func everySenderIsDueOnceAPeriodOnDeadlinesThatDoNotDrift() throws {
        var schedule = SendSchedule(numbers: [0, 1, 2], period: 1000, start: 5000)
        var deadlines: [Int: [Int64]] = [:]
        // Looked at late and unevenly: the deadlines stay where they are.
        for now in stride(from: Int64(5000), to: 15_000, by: 337) {
            while let due = schedule.next(at: now) {
                #expect(due.deadline <= now)
                deadlines[due.index, default: []].append(due.deadline)
            }
        }
        #expect(deadlines.count == 3)
        for (_, times) in deadlines {
            let first = try #require(times.first)
            #expect((5000..<6000).contains(first))
            #expect(times == times.indices.map { first + Int64($0) * 1000 })
            #expect(times.count >= 9)
        }
    }

    @Test func deadlinesComeInOrderAndNothingIsDueEarly() {
        var schedule = SendSchedule(numbers: Array(0..<40), period: 16_666_667, start: 0)
        var last: Int64 = -1
        for _ in 0..<400 {
            guard let deadline = schedule.nextDeadline else { return #expect(Bool(false), "it ended") }
            #expect(schedule.next(at: deadline - 1) == nil)
            let due = schedule.next(at: deadline)
            #expect(due?.deadline == deadline)
            #expect(deadline >= last)
            last = deadline
        }
    }

    @Test(arguments: [2, 3, 8, 40, 377])
    func phasesFillThePeriodEvenly(count: Int) {
        let period: Int64 = 1_000_000
        var schedule = SendSchedule(numbers: Array(0..<count), period: period, start: 0)
        var deadlines: [Int64] = []
        while deadlines.count < count, let due = schedule.next(at: period - 1) { deadlines.append(due.deadline) }
        #expect(deadlines.count == count)
        let gaps = zip(deadlines, deadlines.dropFirst()).map { $1 - $0 }
        // Three distances occur with golden phases, the largest below twice the mean.
        #expect(gaps.allSatisfy { $0 > 0 && $0 < 2 * period / Int64(count) })
    }

    @Test func twoLoopsShareTheSendersWithoutMeeting() {
        var even = SendSchedule(numbers: [0, 2, 4], period: 1000, start: 0)
        var odd = SendSchedule(numbers: [1, 3, 5], period: 1000, start: 0)
        var deadlines: Set<Int64> = []
        for _ in 0..<3 {
            if let due = even.next(at: 999) { deadlines.insert(due.deadline) }
            if let due = odd.next(at: 999) { deadlines.insert(due.deadline) }
        }
        #expect(deadlines.count == 6)
    }

    @Test func overdueSendsAreLeftOutInWholePeriods() {
        var schedule = SendSchedule(numbers: [0, 1], period: 100, start: 0)
        #expect(schedule.skip(olderThan: 1000, at: 900) == 0)
        #expect(schedule.skip(olderThan: 1000, at: 2500) == 50)
        #expect(schedule.nextDeadline == 2500)
        #expect(schedule.skip(olderThan: 1000, at: 2500) == 0)
    }

    @Test func withoutSendersNothingIsEverDue() {
        var schedule = SendSchedule(numbers: [], period: 100, start: 0)
        #expect(schedule.nextDeadline == nil)
        #expect(schedule.next(at: .max) == nil)
        #expect(schedule.skip(olderThan: 0, at: .max) == 0)
    }
}
