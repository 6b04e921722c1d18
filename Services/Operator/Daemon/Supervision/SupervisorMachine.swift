internal import Boot

/// The decisions of a supervisor of daemons. A pure value: it starts no process and reads no clock.
///
///     a member   idle ─spawn─► running(not ready) ─ready line─► running(ready)
///                                   │  exit                        │ exit
///                                   ▼                              ▼
///                               waiting ─deadline─► spawn      (the same)
///     the whole  starting ─all ready─► serving ─stop─► stopping stage 0, 1, … ─► stopped
///                   └─ a member refuses its settings, or the start deadline ─► stopping ─► stopped(failed)
///
/// A member that ends is restarted: immediately when it had lived for ``Pace/healthyLife`` or this is its first failure
/// in a row, otherwise after a growing delay. While stopping no member is started; the stages are asked to stop one
/// after the other, and processes left at the end of a stage's window are killed.
package struct SupervisorMachine: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package struct Pace: Sendable {
        /// Delay before the second start in a row; doubles with each failure.
        package var firstDelay: Duration = .milliseconds(100)
        package var longestDelay: Duration = .seconds(2)
        /// A life of this length resets the count of failures.
        package var healthyLife: Duration = .seconds(10)
        /// Everything must have been ready once within this time.
        package var startDeadline: Duration = .seconds(60)
        /// A second stop request counts as impatience only after this delay: a terminal, a shell and make may all
        /// forward the same Ctrl-C.
        package var patience: Duration = .seconds(1)

        package init() {}
    }

    package struct Member: Sendable, Equatable {
        /// Stages are stopped in ascending order.
        package let stage: Int
        package let name: String
    }

    package enum Life: Sendable, Equatable {
        case idle
        case running(pid: Int32, since: Instant, isReady: Bool)
        case waiting(until: Instant)

        var pid: Int32? {
            if case .running(let pid, _, _) = self { pid } else { nil }
        }

        /// True when it runs and has reported that it is ready.
        package var isReady: Bool {
            if case .running(_, _, true) = self { true } else { false }
        }
    }

    /// Why everything stopped.
    package enum Outcome: Sendable, Equatable {
        /// On request.
        case stopped
        /// Before everything was ready; the reason for people, and the exit code.
        case failed(String, exitCode: Int32)
    }

    /// What to do, in order.
    package enum Action: Sendable, Equatable {
        /// Start a member; answer with ``spawned(_:pid:at:)`` or ``ended(_:_:at:)``.
        case spawn(Int)
        /// Ask a process to stop (SIGTERM).
        case terminate(pid: Int32)
        /// End a process (SIGKILL).
        case kill(pid: Int32)
        /// Report how a member ended and when it is restarted (nil: not at all).
        case report(Int, ExitKind, restartIn: Duration?)
        /// Everything has been ready for the first time.
        case announce
        /// All processes are gone.
        case finish(Outcome)
    }

    private enum Phase: Sendable, Equatable {
        case starting(until: Instant)
        case serving
        case stopping(stage: Int, until: Instant)
        case stopped
    }

    private let pace: Pace
    private let members: [Member]
    private let windows: [Duration]
    private var phase: Phase
    private var outcome = Outcome.stopped
    private var failures: [Int]
    private var firstStop: Instant?
    /// The members' states, in their order.
    package private(set) var lives: [Life]

    /// - Parameters:
    ///   - members: in the order of their start.
    ///   - windows: how long each stage may take to stop; one for every stage that a member names.
    package init(members: [Member], windows: [Duration], pace: Pace = Pace(), at now: Instant) {
        precondition(members.allSatisfy { windows.indices.contains($0.stage) }, "a window for every stage")
        self.members = members
        self.windows = windows
        self.pace = pace
        self.phase = .starting(until: now + pace.startDeadline)
        self.failures = members.map { _ in 0 }
        self.lives = members.map { _ in .idle }
    }

    /// When ``timeReached(_:)`` must be called at the latest; nil: no deadline.
    package var deadline: Instant? {
        var deadlines: [Instant] = self.lives.compactMap { life in
            if case .waiting(let until) = life { until } else { nil }
        }
        switch self.phase {
        case .starting(let until), .stopping(_, let until): deadlines.append(until)
        case .serving, .stopped: break
        }
        return deadlines.min()
    }

    // MARK: Events

    package mutating func start() -> [Action] {
        self.members.indices.map(Action.spawn)
    }

    package mutating func spawned(_ index: Int, pid: Int32, at now: Instant) -> [Action] {
        self.lives[index] = .running(pid: pid, since: now, isReady: false)
        // A stop was requested between the action and the start.
        if case .stopping(let stage, _) = self.phase, self.members[index].stage <= stage {
            return [.terminate(pid: pid)]
        }
        return self.phase == .stopped ? [.kill(pid: pid)] : []
    }

    package mutating func readyReported(_ index: Int, at now: Instant) -> [Action] {
        guard case .running(let pid, let since, _) = self.lives[index] else { return [] }
        self.lives[index] = .running(pid: pid, since: since, isReady: true)
        guard case .starting = self.phase, self.lives.allSatisfy(\.isReady) else { return [] }
        self.phase = .serving
        return [.announce]
    }

    /// A member's process is gone, or could not be started.
    package mutating func ended(_ index: Int, _ exit: ExitKind, at now: Instant) -> [Action] {
        let life = self.lives[index]
        self.lives[index] = .idle
        switch self.phase {
        case .stopping(let stage, _):
            let wasAsked = self.members[index].stage <= stage && exit == .code(0)
            return (wasAsked ? [] : [.report(index, exit, restartIn: nil)]) + self.advance(at: now)
        case .stopped: return []
        case .starting, .serving: break
        }
        if case .starting = self.phase, exit == .code(DaemonMain.configurationExitCode) {
            let reason = "\(self.members[index].name) \(exit)"
            return [.report(index, exit, restartIn: nil)]
                + self.fail(reason, exitCode: DaemonMain.configurationExitCode, at: now)
        }
        if case .running(_, let since, _) = life, now - since >= self.pace.healthyLife { self.failures[index] = 0 }
        let delay = self.delay(after: self.failures[index])
        self.failures[index] = min(self.failures[index] + 1, 32)
        guard delay > .zero else { return [.report(index, exit, restartIn: .zero), .spawn(index)] }
        self.lives[index] = .waiting(until: now + delay)
        return [.report(index, exit, restartIn: delay)]
    }

    /// Stops everything in order. A second request after ``Pace/patience`` kills.
    package mutating func stopRequested(at now: Instant) -> [Action] {
        let first = self.firstStop ?? now
        self.firstStop = first
        switch self.phase {
        case .starting, .serving: return self.beginStop(at: now)
        case .stopping: return now - first < self.pace.patience ? [] : self.lives.compactMap(\.pid).map(Action.kill)
        case .stopped: return []
        }
    }

    /// Time passed; call at ``deadline`` or any time later.
    package mutating func timeReached(_ now: Instant) -> [Action] {
        switch self.phase {
        case .starting(let until) where now >= until:
            let missing = self.members.indices.filter { !self.lives[$0].isReady }.map { self.members[$0].name }
            return self.fail("not ready in time: \(missing.joined(separator: ", "))", exitCode: 1, at: now)
        case .stopping(let stage, let until) where now >= until:
            // The stage's window has ended. Its exits come as events, and the next stage must not wait for them.
            let left = self.pids(inStage: stage).map(Action.kill)
            let next = self.stop(stage: stage + 1, at: now)
            return left.filter { !next.contains($0) } + next
        case .starting, .serving: return self.restartDue(at: now)
        case .stopping, .stopped: return []
        }
    }

    // MARK: Decisions

    private func delay(after failures: Int) -> Duration {
        guard failures > 0 else { return .zero }
        var delay = self.pace.firstDelay
        for _ in 1..<failures where delay < self.pace.longestDelay { delay *= 2 }
        return min(delay, self.pace.longestDelay)
    }

    private mutating func restartDue(at now: Instant) -> [Action] {
        var actions: [Action] = []
        for index in self.lives.indices {
            if case .waiting(let until) = self.lives[index], now >= until {
                self.lives[index] = .idle
                actions.append(.spawn(index))
            }
        }
        return actions
    }

    private mutating func fail(_ reason: String, exitCode: Int32, at now: Instant) -> [Action] {
        self.outcome = .failed(reason, exitCode: exitCode)
        return self.beginStop(at: now)
    }

    private mutating func beginStop(at now: Instant) -> [Action] {
        for index in self.lives.indices where self.lives[index].pid == nil { self.lives[index] = .idle }
        return self.stop(stage: 0, at: now)
    }

    /// Stops a stage, or the next one that has processes; finishes when no process is left.
    private mutating func stop(stage: Int, at now: Instant) -> [Action] {
        var stage = stage
        while stage < self.windows.count {
            self.phase = .stopping(stage: stage, until: now + self.windows[stage])
            let pids = self.pids(inStage: stage)
            if !pids.isEmpty { return pids.map(Action.terminate) }
            stage += 1
        }
        // Killed processes may not have ended yet.
        let left = self.lives.compactMap(\.pid)
        guard left.isEmpty else {
            self.phase = .stopping(stage: self.windows.count, until: now + .seconds(1))
            return left.map(Action.kill)
        }
        self.phase = .stopped
        return [.finish(self.outcome)]
    }

    /// After an exit while stopping: proceeds to the next stage when the present one is empty.
    private mutating func advance(at now: Instant) -> [Action] {
        guard case .stopping(let stage, _) = self.phase, self.pids(inStage: stage).isEmpty else { return [] }
        if stage >= self.windows.count, self.lives.contains(where: { $0.pid != nil }) { return [] }
        return self.stop(stage: stage + 1, at: now)
    }

    private func pids(inStage stage: Int) -> [Int32] {
        self.members.indices.compactMap { self.members[$0].stage == stage ? self.lives[$0].pid : nil }
    }
}

/// How a process ended.
package enum ExitKind: Sendable, Equatable, CustomStringConvertible {
    case code(Int32)
    case signal(Int32)
    /// It could not be started; the errno's text.
    case unstarted(String)

    package var description: String {
        switch self {
        case .code(78): "refused its settings (exit code 78)"
        case .code(let code): "ended with exit code \(code)"
        case .signal(let signal): "was killed by signal \(signal)"
        case .unstarted(let reason): "could not be started: \(reason)"
        }
    }
}
