import Testing

@testable import bench

/// Sends are due at fixed times, whatever the server answers: what a slow server keeps from being sent is counted.
@Suite struct ScheduleTests {
    static func schedule(_ count: Int, period: Int64) -> SendSchedule {
        SendSchedule((0..<count).map { ($0, $0) }, period: period, start: 5000)
    }

    @Test func everySenderIsDueOnceAPeriodHoweverLateOneLooks() throws {
        var schedule = Self.schedule(3, period: 1000)
        var deadlines: [Int: [Int64]] = [:]
        var last: Int64 = 0
        for now in stride(from: Int64(5000), to: 15_000, by: 337) {
            while let (sender, deadline) = schedule.next(at: now) {
                #expect(deadline <= now && deadline >= last)
                last = deadline
                deadlines[sender, default: []].append(deadline)
            }
        }
        for times in deadlines.values {
            let first = try #require(times.first)
            #expect((5000..<6000).contains(first) && times.count >= 9)
            #expect(times == times.indices.map { first + Int64($0) * 1000 })
        }
        #expect(deadlines.count == 3)
    }

    @Test(arguments: [2, 3, 8, 40, 377])
    func phasesFillThePeriodEvenly(count: Int) {
        var schedule = Self.schedule(count, period: 1_000_000)
        let deadlines = (0..<count).compactMap { _ in schedule.next(at: 1_004_999)?.deadline }
        #expect(deadlines.count == count)
        // Three distances occur with golden phases, the largest below twice the mean.
        #expect(zip(deadlines, deadlines.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 2_000_000 / Int64(count) })
    }

    @Test func overdueSendsAreLeftOutInWholePeriods() {
        var schedule = Self.schedule(2, period: 100)
        #expect(schedule.skip(olderThan: 1000, at: 5900) == 0)
        #expect(schedule.skip(olderThan: 1000, at: 7500) == 50)
        #expect(schedule.nextDeadline == 7500)
        #expect(SendSchedule().nextDeadline == .max)
    }

    @Test func aFullWindowHoldsCommitsAndAnswersTellHowLongTheyTook() {
        var lane = CommitLane(window: 2)
        let first = CommitLane.firstID
        #expect(lane.submit(at: 100).map { [$0.id, Int($0.number)] } == [first, 1])
        #expect(lane.submit(at: 150).map { [$0.id, Int($0.number)] } == [first + 1, 2])
        #expect(lane.submit(at: 160) == nil)
        #expect(lane.answered(first + 1, .applied, at: 170) == 20)
        #expect(lane.answered(first, .refused(code: "forbidden"), at: 190) == 90)
        #expect(lane.submit(at: 200) == nil, "it pauses")
        #expect(lane.submit(at: 190 + CommitLane.pause)?.number == 3)
    }

    @Test func aRefusalThatLeavesItsNumberFreeSendsTheLaneBackToIt() {
        var lane = CommitLane(window: 4)
        let first = CommitLane.firstID
        for _ in 0..<3 { _ = lane.submit(at: 0) }
        _ = lane.answered(first, .applied, at: 10)
        _ = lane.answered(first + 1, .refused(code: "rate_limited"), at: 10)
        // The one behind it is still to be answered.
        #expect(lane.submit(at: 1_000_000_000) == nil)
        _ = lane.answered(first + 2, .refused(code: "gap"), at: 20)
        #expect(lane.submit(at: 20 + CommitLane.pause).map { [$0.id, Int($0.number)] } == [first + 3, 2])
    }
}
