package import NIOCore
import NIOPosix

/// The part of a load that one event loop carries; confined to it.
package final class LoadLoop {
    /// Connections that may be greeting at once while the ramp runs.
    private static let greetingLimit = 256
    /// A greeting that takes longer is given up and tried again, nanoseconds.
    private static let greetingLimitTime: Int64 = 15_000_000_000
    /// Slow readers read so often, nanoseconds.
    private static let slowPeriod: Int64 = 100_000_000
    /// Sends later than this are left out, nanoseconds.
    private static let patience: Int64 = 1_000_000_000

    let load: Load
    let target: Target
    /// What was counted since it was last taken.
    var tally = Tally()

    private let eventLoop: any EventLoop
    /// All times are nanoseconds since then.
    private let origin: NIODeadline
    private let plans: [ClientPlan]
    private var clients: [BenchClient] = []
    private var senders: [BenchClient] = []
    private var committers: [BenchClient] = []
    private var previews: SendSchedule?
    private var commits: SendSchedule?
    private var masks: MaskGenerator
    private var isSending = false
    private var isStopped = false
    /// Clients of the ramp that are to connect, the next one last, and when the ramp began and ends.
    private var waiting: [BenchClient] = []
    private var ramp: (begin: Int64, length: Int64, total: Int) = (0, 0, 0)
    private var greetingCount = 0
    private var liveCount = 0
    /// How many shall be live at the ramp's end, and who waits for it.
    private var goal = 0
    private var ready: EventLoopPromise<Void>?
    private var lastFailure: String?

    /// - Parameters:
    ///   - loop, loops: which part of the load this is.
    ///   - origin: the same for all loops.
    package init(
        _ load: Load, _ target: Target, loop: Int, of loops: Int, on eventLoop: any EventLoop, origin: NIODeadline
    ) {
        self.load = load
        self.target = target
        self.eventLoop = eventLoop
        self.origin = origin
        self.plans = ClientPlan.plans(load, loop: loop, of: loops)
        self.masks = MaskGenerator(seed: origin.uptimeNanoseconds &+ UInt64(loop) &* 0x9E37_79B9)
        self.clients = self.plans.map { BenchClient($0, loop: self) }
        self.senders = self.clients.filter { $0.plan.sender != nil }
        self.committers = self.clients.filter { $0.plan.committer != nil }
    }

    /// Nanoseconds since the origin.
    var now: Int64 { (NIODeadline.now() - self.origin).nanoseconds }

    func nextMask() -> UInt32 { UInt32(truncatingIfNeeded: self.masks.next() >> 16) }

    private func after(_ deadline: Int64, _ body: @escaping () -> Void) {
        self.eventLoop.assumeIsolated().scheduleTask(deadline: self.origin + .nanoseconds(deadline), body)
    }

    // MARK: Connecting

    /// Connects the members, or the idle ones, over the ramp; fulfilled when all of them are live.
    /// - Returns: fails with a ``BenchFailure`` when they are not within the limit.
    package func connect(idle: Bool, within limit: TimeAmount) -> EventLoopFuture<Void> {
        let promise = self.eventLoop.makePromise(of: Void.self)
        self.waiting = self.clients.filter { ($0.plan.room == nil) == idle }.reversed()
        self.ramp = (self.now, Int64(self.load.ramp * 1e9), self.waiting.count)
        if self.waiting.isEmpty {
            promise.succeed()
        } else {
            self.ready = promise
            self.goal = self.liveCount + self.waiting.count
            self.rampUp()
            self.after(self.now + limit.nanoseconds) { self.giveUpConnecting() }
        }
        return promise.futureResult
    }

    private func giveUpConnecting() {
        guard let ready else { return }
        self.ready = nil
        let reason = self.lastFailure.map { ": \($0)" } ?? ""
        ready.fail(BenchFailure("only \(self.liveCount) of \(self.goal) connections came about\(reason)"))
    }

    /// Connects those whose time has come.
    private func rampUp() {
        guard !self.isStopped, !self.waiting.isEmpty else { return }
        let now = self.now
        var due = now
        while let next = self.waiting.last, self.greetingCount < Self.greetingLimit {
            let done = Int64(self.ramp.total - self.waiting.count)
            due = self.ramp.begin + self.ramp.length * done / Int64(max(1, self.ramp.total))
            guard due <= now else { break }
            self.waiting.removeLast()
            self.dial(next)
        }
        self.after(max(due, now + 1_000_000)) { self.rampUp() }
    }

    private func dial(_ client: BenchClient) {
        guard !self.isStopped else { return }
        self.greetingCount += 1
        let address = self.target.address(of: client.plan.index)
        let bound = NIOLoopBound(client, eventLoop: self.eventLoop)
        var bootstrap = ClientBootstrap(group: self.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.seconds(10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
            }
        if client.plan.isSlow {
            let bytes = max(1, self.load.slowBytes * Int(Self.slowPeriod) / 1_000_000_000)
            bootstrap =
                bootstrap
                .channelOption(.socketOption(.so_rcvbuf), value: 4096)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: bytes))
                .channelOption(.maxMessagesPerRead, value: 1)
        }
        bootstrap.connect(host: address.host, port: address.port).assumeIsolated().whenFailure { error in
            self.failed("\(error)")
            self.ended(bound.value, wasLive: false)
        }
    }

    func failed(_ reason: String) {
        self.lastFailure = reason
    }

    /// Members and idle connections that take part.
    package var live: Int { self.liveCount }

    /// Why the last connection ended that was not meant to; nil when none did.
    package var failure: String? { self.lastFailure }

    func becameLive(_ client: BenchClient) {
        self.greetingCount -= 1
        self.liveCount += 1
        if let cutAt = client.cutAt {
            Tally.record((self.now - cutAt) / 1000, in: &self.tally.rejoin)
            client.cutAt = nil
        }
        if let ready, self.liveCount == self.goal {
            self.ready = nil
            ready.succeed()
        }
    }

    func ended(_ client: BenchClient, wasLive: Bool) {
        if wasLive { self.liveCount -= 1 } else { self.greetingCount -= 1 }
        guard !self.isStopped else { return }
        if client.cutAt != nil, wasLive { return self.dial(client) }
        if wasLive {
            self.tally.cuts += 1
            if client.plan.isSlow { self.tally.slowCuts += 1 }
        }
        // Between half a second and a second later, so that those that were cut together do not come together.
        let pause = 500_000_000 + Int64(self.masks.next() % 500_000_000)
        self.after(self.now + pause) { self.dial(client) }
    }

    /// Ends greetings that hang; to be called about once a second.
    package func giveUpHangingGreetings() {
        let now = self.now
        for client in self.clients
        where client.phase != .live && client.phase != .idle && now - client.since > Self.greetingLimitTime {
            self.failed("a greeting hung in the phase \(client.phase)")
            client.close()
        }
    }

    // MARK: Sending

    /// Begins to send.
    /// - Parameter start: when the first period begins, nanoseconds since the origin; the same for all loops.
    package func startSending(at start: Int64) {
        self.isSending = true
        if self.load.rate > 0 {
            self.previews = SendSchedule(
                numbers: self.senders.compactMap(\.plan.sender), period: Int64(1e9 / self.load.rate), start: start)
        }
        let committers = Double(self.load.rooms * self.load.committersPerRoom)
        if committers > 0 {
            let perCommitter =
                self.load.commitRate > 0 ? self.load.commitRate / committers : self.load.commitsPerConnection
            self.commits = SendSchedule(
                numbers: self.committers.compactMap(\.plan.committer), period: Int64(1e9 / perCommitter), start: start)
        }
        self.sendDue()
        if self.load.slowPerRoom > 0 { self.readSlowly(at: start) }
    }

    /// Sends what is due, then waits for the next deadline.
    private func sendDue() {
        guard self.isSending else { return }
        let now = self.now
        self.tally.missedSends += self.previews?.skip(olderThan: Self.patience, at: now) ?? 0
        self.tally.missedSends += self.commits?.skip(olderThan: Self.patience, at: now) ?? 0
        // The clock is read for each message: what it carries is when it is written.
        while let (index, deadline) = self.previews?.next(at: now) {
            let time = self.now
            Tally.record((time - deadline) / 1000, in: &self.tally.lateness)
            self.senders[index].sendPreview(at: time)
        }
        while let (index, deadline) = self.commits?.next(at: now) {
            let time = self.now
            Tally.record((time - deadline) / 1000, in: &self.tally.lateness)
            self.committers[index].sendCommit(at: time)
        }
        let next = min(self.previews?.nextDeadline ?? .max, self.commits?.nextDeadline ?? .max)
        if next < .max { self.after(next) { self.sendDue() } }
    }

    private func readSlowly(at time: Int64) {
        guard !self.isStopped else { return }
        for client in self.clients where client.plan.isSlow { client.readSlowly() }
        let next = time + Self.slowPeriod
        self.after(max(next, self.now)) { self.readSlowly(at: next) }
    }

    /// Cuts members off, which connect again at once.
    package func storm() {
        let now = self.now
        let share = UInt64(self.load.stormShare * 1_000_000)
        for client in self.clients where client.plan.room != nil && client.phase == .live {
            guard self.masks.next() % 1_000_000 < share else { continue }
            client.cutAt = now
            client.close()
        }
    }

    /// Stops sending; what is under way still arrives.
    package func stopSending() { self.isSending = false }

    /// Closes all connections.
    package func stop() {
        self.isSending = false
        self.isStopped = true
        for client in self.clients { client.close() }
    }

    // MARK: Counting

    func previewArrived(sentAt: Int64?, folded: Int, at now: Int64, isSlow: Bool) {
        guard !isSlow else {
            self.tally.slowDelivered += 1
            return
        }
        self.tally.previewsDelivered += 1
        self.tally.previewsFolded += folded - 1
        if let sentAt { Tally.record(now / 1000 - sentAt, in: &self.tally.previewAge) }
    }

    func commitArrived(sentAt: Int64?, at now: Int64, isSlow: Bool) {
        guard !isSlow else {
            self.tally.slowDelivered += 1
            return
        }
        self.tally.commitsDelivered += 1
        if let sentAt { Tally.record(now / 1000 - sentAt, in: &self.tally.screen) }
    }

    func commitAnswered(_ answer: Answer, latency: Int64) {
        switch answer {
        case .applied:
            self.tally.commitsApplied += 1
            Tally.record(latency / 1000, in: &self.tally.acknowledgement)
        case .refused(let code):
            self.tally.refusals[code.rawValue] += 1
        }
    }

    /// What one loop tells about an interval.
    package struct Interval: Sendable {
        package var tally: Tally
        package var live: Int
        /// Commits without an answer.
        package var outstanding: Int
        /// What the loop's thread has used so far.
        package var thread: ThreadSample
    }

    /// Takes what was counted since the last time.
    package func takeInterval() -> Interval {
        let interval = Interval(
            tally: self.tally, live: self.liveCount,
            outstanding: self.committers.reduce(0) { $0 + $1.outstandingCommits },
            thread: .ofThisThread())
        self.tally = Tally()
        return interval
    }
}
