/// Runs the phases that share connections, from the first connection to the last metric.
struct LoadRun {
    /// How long to wait for answers after a phase, seconds.
    private static let afterglow = 2

    private let name: String
    private let crowd: Load
    private let watched: [WatchedProcess]
    /// Time to connect beyond the ramp, s.
    private let patience: Int
    private let progress: Progress
    private let loop: LoadLoop
    /// Samples of the servers before and after the idle connections were made.
    private var before: [ProcessSample?] = []
    private var after: [ProcessSample?] = []

    private var clock: Clock { self.loop.clock }

    /// Makes all connections.
    /// - Parameter crowd: the load with the connections.
    /// - Throws: a ``BenchFailure`` when not all of them are live in time.
    init(
        _ name: String, _ crowd: Load, _ target: Target, _ watched: [WatchedProcess], _ options: BenchOptions
    ) throws(BenchFailure) {
        self.name = name
        self.crowd = crowd
        self.watched = watched
        self.patience = max(0, options.patience)
        self.progress = Progress(isQuiet: options.isQuiet)
        self.loop = try LoadLoop(crowd, target)
        try self.connect(idle: false)
        self.before = watched.map { ProcessSample.of($0.pid) }
        try self.connect(idle: true)
        if crowd.idle > 0 { self.loop.run(until: self.clock.now + 1_000_000_000) }
        self.after = watched.map { ProcessSample.of($0.pid) }
    }

    /// Connects the members or the idle connections and waits until all of them are live.
    private func connect(idle: Bool) throws(BenchFailure) {
        self.loop.connect(idle: idle)
        let limit = Int(self.crowd.ramp.rounded(.up)) + self.patience
        let wanted = self.crowd.rooms * self.crowd.members + (idle ? self.crowd.idle : 0)
        let begin = self.clock.now
        // The maximum of live clients, since when it has not grown, and whether a greeting timed out.
        var (most, since, someHung) = (0, begin, false)
        for second in 1...max(1, limit) {
            self.loop.run(until: begin + Int64(second) * 1_000_000_000, whenComplete: true)
            if self.loop.isComplete { return }
            someHung = self.loop.giveUpHangingGreetings() || someHung
            let isStuck = self.loop.liveCount <= most
            if !isStuck { (most, since) = (self.loop.liveCount, self.clock.now) }
            // No client went live for the length of a greeting, and some greetings timed out: no progress is possible.
            if someHung, self.clock.now - since >= Dialler.greetingTime { break }
            let obstacle = isStuck ? self.loop.obstacle : nil
            self.progress.connecting(self.name, self.loop.liveCount, of: wanted, obstacle)
        }
        let reason = self.loop.obstacle.map { ": \($0)" } ?? ""
        throw BenchFailure("only \(self.loop.liveCount) of \(wanted) connections came about\(reason)")
    }

    /// Runs one phase.
    func measure(_ named: NamedLoad) -> BenchReport {
        let load = named.load
        // The first period begins a little later.
        self.loop.beginSending(load, at: self.clock.now + 10_000_000)
        self.eachSecond(of: load.warmUp) { second, seconds in
            self.progress.warmUp(named.title, second, of: seconds, self.loop.drainInterval())
        }
        let slowBefore = load.slowPerRoom > 0 ? GatewayMetrics.slowMembers(self.watched) : nil
        var meter = ServerMeter(self.watched, before: self.before, after: self.after)
        meter.begin()
        var recording = Recording(named)
        recording.begin(self.loop.drainInterval(), at: self.clock.now)
        let stormSecond = load.stormAfter.map { max(1, Int($0.rounded())) }
        self.eachSecond(of: max(1, load.duration)) { second, seconds in
            let interval = self.loop.drainInterval()
            meter.sample()
            recording.add(interval, memory: meter.memory, at: self.clock.now)
            self.progress.second(named.title, second, of: seconds, interval)
            if second == stormSecond { self.loop.storm(share: load.stormShare) }
        }
        self.loop.stopSending()
        var report = recording.finished(meter, unanswered: self.unanswered(), failure: self.loop.failure)
        report.slowMembers = slowBefore.flatMap { before in
            GatewayMetrics.slowMembers(self.watched).map { max(0, $0 - before) }
        }
        return report
    }

    /// Runs the loop for a number of seconds; calls `body` after each.
    private func eachSecond(of duration: Double, _ body: (Int, _ seconds: Int) -> Void) {
        let begin = self.clock.now
        let seconds = Int(duration.rounded())
        for second in 0..<seconds {
            self.loop.run(until: begin + Int64(second + 1) * 1_000_000_000)
            body(second + 1, seconds)
            self.loop.giveUpHangingGreetings()
        }
    }

    /// The number of commits still unanswered after the wait.
    private func unanswered() -> Int {
        var left = self.loop.drainInterval().outstanding
        for _ in 0..<Self.afterglow where left > 0 {
            self.loop.run(until: self.clock.now + 1_000_000_000)
            left = self.loop.drainInterval().outstanding
        }
        return left
    }
}
