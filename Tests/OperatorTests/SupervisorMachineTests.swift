import Testing

@testable import OperatorDaemon

@Suite struct SupervisorMachineTests {
    private let zero = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { self.zero + .seconds(seconds) }

    /// Two members of stage 0, one of stage 1.
    private func machine() -> SupervisorMachine {
        SupervisorMachine(
            members: [.init(stage: 1, name: "b-1"), .init(stage: 0, name: "a-1"), .init(stage: 0, name: "a-2")],
            windows: [.seconds(5), .seconds(2)], at: self.zero)
    }

    /// Everything runs and is ready; pids 10, 11, 12.
    private func serving() -> SupervisorMachine {
        var machine = self.machine()
        _ = machine.start()
        for index in 0..<3 { _ = machine.spawned(index, pid: 10 + Int32(index), at: self.zero) }
        for index in 0..<3 { _ = machine.readyReported(index, at: self.zero) }
        return machine
    }

    @Test func fromStartToReady() {
        var machine = self.machine()
        #expect(machine.start() == [.spawn(0), .spawn(1), .spawn(2)])
        #expect(machine.deadline == self.at(60))
        #expect(machine.spawned(0, pid: 10, at: self.at(0)) == [])
        #expect(machine.spawned(1, pid: 11, at: self.at(0)) == [])
        #expect(machine.spawned(2, pid: 12, at: self.at(0)) == [])
        #expect(machine.readyReported(0, at: self.at(1)) == [])
        #expect(machine.readyReported(2, at: self.at(1)) == [])
        #expect(machine.readyReported(1, at: self.at(1)) == [.announce])
        #expect(machine.readyReported(1, at: self.at(1)) == [])
        #expect(machine.deadline == nil)
        #expect(machine.timeReached(self.at(1000)) == [])
    }

    @Test func aCrashIsFollowedByAStartAtOnceThenByGrowingDelays() {
        var machine = self.serving()
        #expect(machine.ended(1, .signal(9), at: self.at(1)) == [.report(1, .signal(9), restartIn: .zero), .spawn(1)])
        var time = 1.0
        for delay in [100, 200, 400, 800, 1600, 2000, 2000] {
            _ = machine.spawned(1, pid: 20, at: self.at(time))
            time += 0.01
            #expect(
                machine.ended(1, .code(1), at: self.at(time)) == [.report(1, .code(1), restartIn: .milliseconds(delay))]
            )
            #expect(machine.deadline == self.at(time) + .milliseconds(delay))
            time += Double(delay) / 1000 - 0.001
            #expect(machine.timeReached(self.at(time)) == [])
            time += 0.001001
            #expect(machine.timeReached(self.at(time)) == [.spawn(1)])
        }
        // Ten seconds of life forgive everything.
        _ = machine.spawned(1, pid: 30, at: self.at(time))
        #expect(
            machine.ended(1, .code(0), at: self.at(time + 10)) == [.report(1, .code(0), restartIn: .zero), .spawn(1)])
    }

    @Test func aMemberThatCannotBeStartedWaits() {
        var machine = self.machine()
        _ = machine.start()
        let exit = ExitKind.unstarted("No such file or directory")
        #expect(machine.ended(0, exit, at: self.at(0)) == [.report(0, exit, restartIn: .zero), .spawn(0)])
        #expect(machine.ended(0, exit, at: self.at(0)) == [.report(0, exit, restartIn: .milliseconds(100))])
    }

    @Test func stagesStopOneAfterTheOther() {
        var machine = self.serving()
        #expect(machine.stopRequested(at: self.at(1)) == [.terminate(pid: 11), .terminate(pid: 12)])
        #expect(machine.deadline == self.at(6))
        #expect(machine.ended(1, .code(0), at: self.at(2)) == [])
        #expect(machine.ended(2, .code(0), at: self.at(3)) == [.terminate(pid: 10)])
        #expect(machine.deadline == self.at(5))
        #expect(machine.ended(0, .code(0), at: self.at(4)) == [.finish(.stopped)])
        #expect(machine.deadline == nil)
        #expect(machine.stopRequested(at: self.at(5)) == [])
    }

    @Test func aStageThatDoesNotStopIsKilledAndHoldsUpNobody() {
        var machine = self.serving()
        _ = machine.stopRequested(at: self.at(1))
        _ = machine.ended(1, .code(0), at: self.at(1))
        #expect(machine.timeReached(self.at(5.9)) == [])
        #expect(machine.timeReached(self.at(6)) == [.kill(pid: 12), .terminate(pid: 10)])
        // The late exit of the first stage does not end the second one's turn.
        #expect(machine.ended(2, .signal(9), at: self.at(6)) == [.report(2, .signal(9), restartIn: nil)])
        #expect(machine.timeReached(self.at(8)) == [.kill(pid: 10)])
        #expect(
            machine.ended(0, .signal(9), at: self.at(8)) == [.report(0, .signal(9), restartIn: nil), .finish(.stopped)])
    }

    @Test func theSecondRequestKills() {
        var machine = self.serving()
        _ = machine.stopRequested(at: self.at(1))
        #expect(machine.stopRequested(at: self.at(1.1)) == [])
        #expect(machine.stopRequested(at: self.at(2)) == [.kill(pid: 10), .kill(pid: 11), .kill(pid: 12)])
        _ = machine.ended(0, .signal(9), at: self.at(2.2))
        _ = machine.ended(1, .signal(9), at: self.at(2.2))
        #expect(
            machine.ended(2, .signal(9), at: self.at(2.2)) == [
                .report(2, .signal(9), restartIn: nil), .finish(.stopped),
            ])
    }

    @Test func nobodyIsStartedWhileStopping() {
        var machine = self.serving()
        _ = machine.ended(0, .code(1), at: self.at(1))
        _ = machine.spawned(0, pid: 20, at: self.at(1))
        #expect(machine.ended(0, .code(1), at: self.at(1)).count == 1)
        #expect(machine.stopRequested(at: self.at(1)) == [.terminate(pid: 11), .terminate(pid: 12)])
        #expect(machine.timeReached(self.at(2)) == [])
        _ = machine.ended(1, .code(0), at: self.at(2))
        // Stage 1 has nobody left.
        #expect(machine.ended(2, .code(0), at: self.at(2)) == [.finish(.stopped)])
    }

    @Test func refusedSettingsEndTheStart() {
        var machine = self.machine()
        _ = machine.start()
        for index in 0..<3 { _ = machine.spawned(index, pid: 10 + Int32(index), at: self.zero) }
        #expect(
            machine.ended(0, .code(78), at: self.at(1)) == [
                .report(0, .code(78), restartIn: nil), .terminate(pid: 11), .terminate(pid: 12),
            ])
        _ = machine.ended(1, .code(0), at: self.at(2))
        #expect(
            machine.ended(2, .code(0), at: self.at(2)) == [
                .finish(.failed("b-1 refused its settings (exit code 78)", exitCode: 78))
            ])
    }

    @Test func refusedSettingsLaterAreACrashLikeAnyOther() {
        var machine = self.serving()
        #expect(machine.ended(0, .code(78), at: self.at(1)) == [.report(0, .code(78), restartIn: .zero), .spawn(0)])
    }

    @Test func aStartThatTakesTooLongFails() {
        var machine = self.machine()
        _ = machine.start()
        for index in 0..<3 { _ = machine.spawned(index, pid: 10 + Int32(index), at: self.zero) }
        _ = machine.readyReported(1, at: self.at(1))
        #expect(machine.timeReached(self.at(59)) == [])
        #expect(machine.timeReached(self.at(60)) == [.terminate(pid: 11), .terminate(pid: 12)])
        for index in [1, 2] { _ = machine.ended(index, .code(0), at: self.at(61)) }
        #expect(
            machine.ended(0, .code(0), at: self.at(61)) == [
                .finish(.failed("not ready in time: b-1, a-2", exitCode: 1))
            ])
    }

    @Test func randomWalksKeepTheInvariants() {
        for seed in 1...300 as ClosedRange<UInt64> { self.walk(seed) }
    }

    /// Any order of events: no process is started twice, none is left when it finishes, it always finishes in time.
    private func walk(_ seed: UInt64) {
        var random = seed &* 0x9E37_79B9_7F4A_7C15
        func next(_ bound: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % bound)
        }
        var machine = self.machine()
        var now = self.zero
        var alive: [Int: Int32] = [:]
        var pid: Int32 = 100
        var dying: Set<Int> = []
        var finished = false
        var stopAt: ContinuousClock.Instant?

        func perform(_ actions: [SupervisorMachine.Action]) {
            for action in actions {
                #expect(!finished, "seed \(seed): \(action) after the end")
                switch action {
                case .spawn(let index):
                    #expect(alive[index] == nil, "seed \(seed): started twice")
                    #expect(stopAt == nil, "seed \(seed): started while stopping")
                    pid += 1
                    alive[index] = pid
                    perform(machine.spawned(index, pid: pid, at: now))
                case .kill(let victim):
                    if let index = alive.first(where: { $0.value == victim })?.key { dying.insert(index) }
                case .terminate(let victim): #expect(alive.values.contains(victim), "seed \(seed): no such process")
                case .finish:
                    finished = true
                    #expect(alive.isEmpty, "seed \(seed): left behind")
                case .report, .announce: break
                }
            }
        }

        /// The exits of killed processes come as events of their own.
        func settle() {
            while let index = dying.popFirst() {
                guard alive.removeValue(forKey: index) != nil else { continue }
                perform(machine.ended(index, .signal(9), at: now))
            }
        }

        perform(machine.start())
        for _ in 0..<200 where !finished {
            now += .milliseconds(next(700))
            let index = next(3)
            switch next(6) {
            case 0, 1:
                guard alive.removeValue(forKey: index) != nil else { continue }
                perform(machine.ended(index, .code(Int32(next(2))), at: now))
            case 2: perform(alive[index] == nil ? [] : machine.readyReported(index, at: now))
            case 3 where next(20) == 0:
                stopAt = stopAt ?? now
                perform(machine.stopRequested(at: now))
            default: perform(machine.timeReached(now))
            }
            settle()
        }
        if stopAt == nil {
            stopAt = now
            perform(machine.stopRequested(at: now))
        }
        for _ in 0..<20 where !finished {
            guard let deadline = machine.deadline else { break }
            now = max(now, deadline)
            perform(machine.timeReached(now))
            settle()
        }
        #expect(finished, "seed \(seed): never ends")
    }
}
