internal import Boot
internal import CLinux
internal import Glibc
internal import Stages

/// Keeps processes alive as ``SupervisorMachine`` decides. On one thread it waits in poll(2) for stop requests, exits,
/// ready lines and the machine's next deadline, passes them to the machine, and performs its actions. It also moves what
/// the processes write into their log files.
struct Supervisor {
    struct Member {
        /// nil for the monitor.
        let stage: Stage?
        let name: String
        let plan: ProcessPlan
    }

    /// The present state of one member.
    struct Status: Equatable {
        /// nil for the monitor.
        let stage: Stage?
        let name: String
        var pid: Int32?
        var isReady = false
        var http: String?
        var url: String?
    }

    private let members: [Member]
    private let launcher: ProcessLauncher
    private let stops: StopRequests
    private var machine: SupervisorMachine
    private var pipes: [ReadyPipe?]
    private var logs: [ProcessLog]
    /// Readable when the member's process has ended; -1: none runs.
    private var processes: [Int32]
    private var outcome: SupervisorMachine.Outcome?
    private var hasNews = true
    /// In the members' order.
    private(set) var statuses: [Status]

    /// Called when a status changed, after each round of events.
    var changed: ([Status]) -> Void = { _ in }
    /// Called once, when everything has been ready for the first time.
    var announced: ([Status]) -> Void = { _ in }
    /// Called with lines for people.
    var told: (String) -> Void = { _ in }

    init(
        members: [Member], stops: StopRequests, pace: SupervisorMachine.Pace = .init(), logLimit: LogLimit = .init()
    ) throws(OperatorFailure) {
        var logs: [ProcessLog] = []
        for member in members { logs.append(try ProcessLog(path: member.plan.logFile, limit: logLimit)) }
        self.logs = logs
        self.members = members
        self.stops = stops
        self.launcher = try ProcessLauncher()
        let stages = Stage.allCases
        self.machine = SupervisorMachine(
            members: members.map { member in
                .init(stage: stages.firstIndex { $0 == member.stage } ?? 0, name: member.name)
            },
            windows: stages.map(\.window), pace: pace, at: .now)
        self.pipes = members.map { _ in nil }
        self.processes = members.map { _ in -1 }
        self.statuses = members.map { Status(stage: $0.stage, name: $0.name) }
    }

    /// Runs until everything has stopped.
    mutating func run() -> SupervisorMachine.Outcome {
        self.perform(self.machine.start())
        while true {
            if self.hasNews {
                self.hasNews = false
                self.changed(self.statuses)
            }
            if let outcome {
                for index in self.logs.indices { self.logs[index].close() }
                return outcome
            }
            self.wait()
        }
    }

    // MARK: Events

    private mutating func wait() {
        // poll(2) ignores negative descriptors.
        let watched =
            [self.stops.descriptor] + self.processes + self.pipes.map { $0?.descriptor ?? -1 } + self.logs.map(\.output)
        var entries = watched.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), self.patience())
        for _ in 0..<self.stops.drain() {
            let actions = self.machine.stopRequested(at: .now)
            if !actions.isEmpty { self.told("stopping") }
            self.perform(actions)
        }
        let count = self.members.count
        for index in 0..<count where entries[1 + 2 * count + index].revents != 0 { self.drainLog(index) }
        for index in 0..<count where entries[1 + count + index].revents != 0 { self.readable(index) }
        for index in 0..<count where entries[1 + index].revents != 0 { self.reap(index) }
        self.perform(self.machine.timeReached(.now))
    }

    /// Milliseconds until the machine's deadline, rounded up; -1: no deadline.
    private func patience() -> Int32 {
        guard let deadline = self.machine.deadline else { return -1 }
        let left = deadline - .now
        guard left > .zero else { return 0 }
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    private mutating func drainLog(_ index: Int) {
        if let failure = self.logs[index].drain() { self.told(failure) }
    }

    private mutating func reap(_ index: Int) {
        guard let pid = self.statuses[index].pid else { return }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return }
        close(self.processes[index])
        self.processes[index] = -1
        let exit = linux_exit_of(status)
        self.ended(index, exit < 0 ? .signal(-exit) : .code(exit))
    }

    private mutating func readable(_ index: Int) {
        guard var pipe = self.pipes[index] else { return }
        let progress = pipe.read()
        self.pipes[index] = pipe
        switch progress {
        case .waiting: break
        case .ready(let line):
            self.closePipe(index)
            self.statuses[index].isReady = true
            self.statuses[index].http = line.http
            self.statuses[index].url = line.url
            self.hasNews = true
            self.perform(self.machine.readyReported(index, at: .now))
        case .closed: self.closePipe(index)
        }
    }

    private mutating func ended(_ index: Int, _ exit: ExitKind) {
        self.closePipe(index)
        // Its last words, before somebody looks for them.
        self.drainLog(index)
        self.statuses[index] = Status(stage: self.members[index].stage, name: self.members[index].name)
        self.hasNews = true
        self.perform(self.machine.ended(index, exit, at: .now))
    }

    private mutating func closePipe(_ index: Int) {
        if let pipe = self.pipes[index] { close(pipe.descriptor) }
        self.pipes[index] = nil
    }

    // MARK: Actions

    private mutating func perform(_ actions: [SupervisorMachine.Action]) {
        for action in actions {
            switch action {
            case .spawn(let index): self.spawn(index)
            case .terminate(let pid): kill(pid, SIGTERM)
            case .kill(let pid): kill(pid, SIGKILL)
            case .report(let index, let exit, let delay): self.report(index, exit, delay)
            case .announce:
                // Who hears of it may look at once.
                self.changed(self.statuses)
                self.announced(self.statuses)
            case .finish(let outcome): self.outcome = outcome
            }
        }
    }

    private mutating func spawn(_ index: Int) {
        do throws(OperatorFailure) {
            let (pid, process, ready) = try self.launcher.launch(
                self.members[index].plan, output: self.logs[index].input)
            self.pipes[index] = ReadyPipe(descriptor: ready)
            self.processes[index] = process
            self.statuses[index].pid = pid
            self.hasNews = true
            self.perform(self.machine.spawned(index, pid: pid, at: .now))
        } catch {
            self.ended(index, .unstarted(error.description))
        }
    }

    private func report(_ index: Int, _ exit: ExitKind, _ delay: Duration?) {
        var text = "\(self.members[index].name) \(exit)"
        if let delay { text += delay > .zero ? "; starting it again in \(delay)" : "; starting it again" }
        self.told(text)
        guard exit != .code(0) else { return }
        for line in RotatingLog.lastLines(of: self.members[index].plan.logFile, count: 5) { self.told("  | \(line)") }
        self.told("  | (all of it in \(self.members[index].plan.logFile))")
    }
}
