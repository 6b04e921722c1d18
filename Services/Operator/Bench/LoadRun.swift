import NIOCore
import NIOPosix

/// Runs one load from the first connection to the last figure.
struct LoadRun {
    /// How long answers are waited for after the end, seconds.
    private static let afterglow = 2

    let named: NamedLoad
    let target: Target
    let watched: [WatchedProcess]
    let loops: [LoopHandle]
    let origin: NIODeadline
    /// Seconds that connecting may take beyond the ramp.
    let patience: Int64
    let progress: Progress

    private var load: Load { self.named.load }

    /// What the rest of the program holds of a loop.
    struct LoopHandle: Sendable {
        let eventLoop: any EventLoop
        let part: NIOLoopBound<LoadLoop>

        /// Calls the loop's part on its own thread.
        func call<Result: Sendable>(_ body: @escaping @Sendable (LoadLoop) -> Result) async throws -> Result {
            let part = self.part
            return try await self.eventLoop.submit { body(part.value) }.get()
        }
    }

    /// Makes the loops' parts; nothing is connected yet.
    static func prepare(
        _ named: NamedLoad, _ target: Target, _ watched: [WatchedProcess], on group: MultiThreadedEventLoopGroup,
        _ options: BenchOptions
    ) async throws -> LoadRun {
        let origin = NIODeadline.now()
        let loops = max(1, options.loops)
        var handles: [LoopHandle] = []
        for index in 0..<loops {
            let eventLoop = group.next()
            let load = named.load
            let part = try await eventLoop.submit {
                NIOLoopBound(
                    LoadLoop(load, target, loop: index, of: loops, on: eventLoop, origin: origin), eventLoop: eventLoop)
            }.get()
            handles.append(LoopHandle(eventLoop: eventLoop, part: part))
        }
        return LoadRun(
            named: named, target: target, watched: watched, loops: handles, origin: origin,
            patience: Int64(max(0, options.patience)), progress: Progress(isQuiet: options.isQuiet))
    }

    /// Runs it; the connections are closed afterwards, also after a failure.
    func run() async throws -> BenchReport {
        do {
            let report = try await self.measure()
            await self.stop()
            return report
        } catch {
            await self.stop()
            throw error
        }
    }

    private func stop() async {
        for loop in self.loops { try? await loop.call { $0.stop() } }
    }

    private func measure() async throws -> BenchReport {
        try await self.connect(idle: false)
        let before = self.watched.map { ProcessSample.of($0.pid) }
        try await self.connect(idle: true)
        if self.load.idle > 0 { try await self.wait(seconds: 1) }
        var meter = ServerMeter(self.watched, before: before, after: self.watched.map { ProcessSample.of($0.pid) })
        // All loops begin at the same moment, a little later.
        let start = self.now + 10_000_000
        for loop in self.loops { try await loop.call { $0.startSending(at: start) } }
        try await self.warmUp()
        meter.begin()
        var recording = Recording(name: self.named.name, load: self.load)
        recording.begin(try await self.take(), at: self.now)
        let stormSecond = self.load.stormAfter.map { max(1, Int($0.rounded())) }
        let begin = self.now
        let seconds = max(1, Int(self.load.duration.rounded()))
        for second in 1...seconds {
            try await self.wait(until: begin + Int64(second) * 1_000_000_000)
            let taken = try await self.take()
            meter.sample()
            recording.add(taken, at: self.now)
            self.progress.second(self.named.name, second, of: seconds, taken)
            if second == stormSecond { for loop in self.loops { try await loop.call { $0.storm() } } }
            for loop in self.loops { try await loop.call { $0.giveUpHangingGreetings() } }
        }
        for loop in self.loops { try await loop.call { $0.stopSending() } }
        var last = try await self.take()
        for _ in 0..<Self.afterglow where last.outstanding > 0 {
            try await self.wait(seconds: 1)
            last = try await self.take()
        }
        return recording.finished(meter, unanswered: last.outstanding, failure: try await self.lastFailure())
    }

    private func warmUp() async throws {
        let begin = self.now
        let seconds = Int(self.load.warmUp.rounded())
        guard seconds > 0 else { return }
        for second in 1...seconds {
            try await self.wait(until: begin + Int64(second) * 1_000_000_000)
            self.progress.warmUp(self.named.name, second, of: seconds, try await self.take())
        }
    }

    /// Connects the members or the idle connections and waits until all of them take part.
    private func connect(idle: Bool) async throws {
        let wanted = idle ? self.load.idle : self.load.rooms * self.load.members
        guard wanted > 0 else { return }
        let limit = TimeAmount.seconds(Int64(self.load.ramp.rounded(.up)) + self.patience)
        let futures = self.loops.map { loop in
            let part = loop.part
            return loop.eventLoop.flatSubmit { part.value.connect(idle: idle, within: limit) }
        }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.tellConnecting(of: wanted) }
            for future in futures { try await future.get() }
            group.cancelAll()
        }
    }

    /// A line every second, until it is cancelled.
    private func tellConnecting(of wanted: Int) async {
        while (try? await self.wait(seconds: 1)) != nil {
            for loop in self.loops { try? await loop.call { $0.giveUpHangingGreetings() } }
            self.progress.connecting(self.named.name, (try? await self.live()) ?? 0, of: wanted)
        }
    }

    private func live() async throws -> Int {
        var live = 0
        for loop in self.loops { live += try await loop.call { $0.live } }
        return live
    }

    private func lastFailure() async throws -> String? {
        for loop in self.loops {
            if let failure = try await loop.call({ $0.failure }) { return failure }
        }
        return nil
    }

    /// What all loops counted since the last time.
    private func take() async throws -> Recording.Taken {
        var taken = Recording.Taken()
        for loop in self.loops { taken.add(try await loop.call { $0.takeInterval() }) }
        return taken
    }

    // MARK: Time

    private var now: Int64 { (NIODeadline.now() - self.origin).nanoseconds }

    private func wait(seconds: Int) async throws {
        try await self.wait(until: self.now + Int64(seconds) * 1_000_000_000)
    }

    private func wait(until time: Int64) async throws {
        let left = time - self.now
        if left > 0 { try await ContinuousClock().sleep(for: .nanoseconds(left), tolerance: .zero) }
    }
}
