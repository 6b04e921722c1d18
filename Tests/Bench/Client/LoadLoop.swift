import Glibc

/// The event loop of all connections of a load, on the calling thread.
///
/// One turn does what is due, then waits for the sockets until the next deadline. It checks the time between two
/// sockets (each read needs it anyway), so that sends do not wait until everything is read.
final class LoadLoop {
    /// Sends that are due within this time leave with those that are due now, nanoseconds. Otherwise a load with many
    /// senders would wake up for each of them.
    private static let grain: Int64 = 100_000
    /// Sends that are later than this are skipped, nanoseconds.
    private static let patience: Int64 = 1_000_000_000

    let clock = Clock()
    /// The counts since the last ``drainInterval()``.
    private var tally = Tally()
    private var clients: [BenchClient]
    private var sockets: [ClientSocket]
    private let poller: Poller
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    /// Reused for each write.
    private var output: [UInt8] = []

    /// The clients that currently send previews and commits, and their schedules.
    private var previewers: [Int] = []
    private var committers: [Int] = []
    private var previews: SendSchedule?
    private var commits: SendSchedule?
    private var groupers: [Int] = []
    private var groups: SendSchedule?
    private var nextSend = Int64.max
    private var slowReaders: SlowReaders
    private var dialler: Dialler
    /// The number of live clients, and the number needed for ``isComplete``.
    private(set) var liveCount = 0
    private var goal = 0
    /// Why the last connection ended unexpectedly; nil when none did.
    private(set) var failure: String?

    /// - Parameter load: the connections; what they send is set by ``beginSending(_:at:)``.
    /// - Throws: a ``BenchFailure`` when an address is unknown.
    init(_ load: Load, _ target: Target) throws(BenchFailure) {
        let plans = ClientPlan.plans(load)
        self.clients = plans.map { BenchClient($0, load, target) }
        self.sockets = plans.map { _ in ClientSocket() }
        self.poller = try Poller()
        self.slowReaders = SlowReaders(plans.filter(\.isSlow).map(\.index), load.slowBytes)
        self.dialler = try Dialler(target, ramp: Int64(load.ramp * 1e9))
    }

    deinit {
        for index in self.sockets.indices { self.sockets[index].close() }
        self.input.deallocate()
    }

    // MARK: Turns

    /// True when all clients are live.
    var isComplete: Bool { self.liveCount >= self.goal }

    /// Runs turns.
    /// - Parameters:
    ///   - end: when to return, nanoseconds since the origin.
    ///   - early: return as soon as the loop is complete.
    func run(until end: Int64, whenComplete early: Bool = false) {
        while true {
            let now = self.clock.now
            if now >= self.nextSend { self.sendDue() }
            self.dialDue(at: now)
            self.readSlowly(at: now)
            guard now < end, !(early && self.isComplete) else { return }
            let next = min(end, self.nextSend, self.dialler.nextDeadline, self.slowReaders.nextDeadline)
            for place in self.poller.wait(atMost: next - self.clock.now) { self.handle(self.poller[place]) }
        }
    }

    private func handle(_ event: Poller.Event) {
        let index = event.index
        guard self.sockets[index].isOpen else { return }
        if event.isWritable {
            if self.clients[index].phase == .dialling { self.opened(index) }
            self.sockets[index].flush()
        }
        if !self.clients[index].readsSlowly {
            self.read(index, self.input)
        } else if event.isClosed {
            self.end(index, reason: nil)
        }
    }

    /// Reads until nothing is left, or once with a smaller buffer than all available bytes may need.
    private func read(_ index: Int, _ buffer: UnsafeMutableRawBufferPointer) {
        while self.sockets[index].isOpen {
            let received = self.sockets[index].receive(into: buffer)
            let now = self.clock.now
            switch received {
            case .bytes(let count):
                self.received(index, UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
                if now >= self.nextSend { self.sendDue() }
                if count < self.input.count { return }
            case .nothing:
                return
            case .end(let reason):
                return self.end(index, reason: reason.map(ClientSocket.text))
            }
        }
    }

    private func received(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) {
        self.tally.bytesIn += bytes.count
        let wasLive = self.clients[index].phase == .live
        let failure = self.clients[index].received(bytes, at: now, tally: &self.tally, output: &self.output)
        self.sendOutput(index)
        if !wasLive, self.clients[index].phase == .live { self.becameLive(index, at: now) }
        if let failure { self.end(index, reason: failure) }
    }

    private func sendOutput(_ index: Int) {
        guard !self.output.isEmpty else { return }
        self.tally.bytesOut += self.output.count
        self.sockets[index].send(self.output)
        self.output.removeAll(keepingCapacity: true)
    }

    // MARK: Connecting

    /// Connects the members, or the idle ones, over the ramp; ``isComplete`` when all of them are live.
    func connect(idle: Bool) {
        let those = self.clients.indices.filter { (self.clients[$0].plan.room == nil) == idle }
        self.goal += those.count
        self.dialler.ramp(those, at: self.clock.now)
    }

    private func dialDue(at now: Int64) {
        while let index = self.dialler.next(at: now) { self.dial(index, at: now) }
    }

    private func dial(_ index: Int, at now: Int64) {
        self.clients[index].dial(at: now)
        let address = self.dialler.address(of: index)
        var error = self.sockets[index].dial(address, isSlow: self.clients[index].plan.isSlow)
        if error == 0, !self.poller.add(self.sockets[index].descriptor, index: index) { error = ENOSPC }
        if error != 0 { self.end(index, reason: ClientSocket.text(error)) }
    }

    private func opened(_ index: Int) {
        let error = self.sockets[index].connected()
        guard error == 0 else { return self.end(index, reason: ClientSocket.text(error)) }
        self.clients[index].opened(into: &self.output)
        self.sendOutput(index)
    }

    private func becameLive(_ index: Int, at now: Int64) {
        self.dialler.greeted()
        self.liveCount += 1
        guard let cutAt = self.clients[index].cutAt else { return }
        Tally.record((now - cutAt) / 1000, in: &self.tally.rejoin)
        self.clients[index].cutAt = nil
    }

    /// Ends a connection; the client reconnects.
    private func end(_ index: Int, reason: String?) {
        if let reason { self.failure = reason }
        let wasLive = self.clients[index].phase == .live
        let isStorm = wasLive && self.clients[index].cutAt != nil
        self.sockets[index].close()
        self.clients[index].ended()
        if wasLive { self.liveCount -= 1 } else { self.dialler.greeted() }
        if wasLive, !isStorm {
            self.tally.cuts += 1
            if self.clients[index].plan.isSlow { self.tally.slowCuts += 1 }
        }
        self.dialler.again(index, at: self.clock.now, atOnce: isStorm)
    }

    /// Why connections are missing, for people: the reason why the last one ended, or the response that one is waiting
    /// for.
    var obstacle: String? {
        self.failure ?? self.clients.lazy.compactMap(\.phase.awaited).first.map { "waiting for \($0)" }
    }

    /// Ends greetings that timed out; call about once a second.
    /// - Returns: true if there were any.
    @discardableResult
    func giveUpHangingGreetings() -> Bool {
        let now = self.clock.now
        var found = false
        for index in self.clients.indices
        where self.sockets[index].isOpen && now - self.clients[index].since > Dialler.greetingTime {
            guard let awaited = self.clients[index].phase.awaited else { continue }
            found = true
            self.end(index, reason: "waited \(Dialler.greetingTime / 1_000_000_000) s in vain for \(awaited)")
        }
        return found
    }

    /// Cuts members off, which reconnect immediately.
    /// - Parameter share: of the members, 0 to 1.
    func storm(share: Double) {
        let now = self.clock.now
        for index in self.clients.indices
        where self.clients[index].plan.room != nil && self.clients[index].phase == .live && self.dialler.draws(share) {
            self.clients[index].cutAt = now
            self.end(index, reason: nil)
        }
    }

    // MARK: Sending

    /// Starts to send.
    /// - Parameters:
    ///   - load: what to send; its members must be those of the connected load.
    ///   - start: when the first period begins, nanoseconds since the origin.
    func beginSending(_ load: Load, at start: Int64) {
        (self.previewers, self.previews) = self.schedule(load.previewersPerRoom, every: load.previewPeriod, from: start)
        (self.committers, self.commits) = self.schedule(load.committersPerRoom, every: load.commitPeriod, from: start)
        (self.groupers, self.groups) = self.schedule(load.groupRate > 0 ? 1 : 0, every: load.groupPeriod, from: start)
        self.slowReaders.begin(at: start)
        self.setNextSend()
    }

    /// The first members of every room with the times of each.
    private func schedule(_ perRoom: Int, every period: Int64, from start: Int64) -> ([Int], SendSchedule?) {
        let members = self.clients.indices.filter { self.clients[$0].plan.number(amongFirst: perRoom) != nil }
        let numbers = members.compactMap { self.clients[$0].plan.number(amongFirst: perRoom) }
        return (members, numbers.isEmpty ? nil : SendSchedule(numbers: numbers, period: period, start: start))
    }

    /// Stops sending; messages in flight still arrive.
    func stopSending() {
        self.previews = nil
        self.commits = nil
        self.groups = nil
        self.nextSend = .max
    }

    private func setNextSend() {
        let schedules = [self.previews, self.commits, self.groups]
        self.nextSend = schedules.compactMap { $0?.nextDeadline }.min() ?? .max
    }

    private func sendDue() {
        var now = self.clock.now
        self.tally.missedSends += self.previews?.skip(olderThan: Self.patience, at: now) ?? 0
        self.tally.missedSends += self.commits?.skip(olderThan: Self.patience, at: now) ?? 0
        self.tally.missedSends += self.groups?.skip(olderThan: Self.patience, at: now) ?? 0
        // The clock is read for each message, because it carries the time at which it is written.
        while let (place, deadline) = self.previews?.next(at: now + Self.grain) {
            now = self.clock.now
            Tally.record((now - deadline) / 1000, in: &self.tally.lateness)
            self.sendPreview(self.previewers[place], at: now)
        }
        while let (place, deadline) = self.commits?.next(at: now + Self.grain) {
            now = self.clock.now
            Tally.record((now - deadline) / 1000, in: &self.tally.lateness)
            let member = self.committers[place]
            self.sendCommit(member) { $0.moveForGood(at: now, into: &$1) }
        }
        while let (place, _) = self.groups?.next(at: now + Self.grain) {
            now = self.clock.now
            let member = self.groupers[place]
            self.sendCommit(member) { $0.moveGroup(at: now, into: &$1) }
        }
        self.setNextSend()
    }

    private func sendPreview(_ index: Int, at now: Int64) {
        if self.clients[index].isGesturing { return self.sendGesture(index, at: now) }
        guard self.sockets[index].isWritable, self.clients[index].movePreview(at: now, into: &self.output) else {
            self.tally.missedSends += 1
            return
        }
        self.tally.previewsSent += 1
        self.sendOutput(index)
    }

    private func sendGesture(_ index: Int, at now: Int64) {
        guard self.sockets[index].isWritable,
            let step = self.clients[index].moveFingers(at: now, into: &self.output)
        else {
            self.tally.missedSends += 1
            return
        }
        switch step {
        case .preview: self.tally.previewsSent += 1
        case .placement, .commit: self.tally.commitsSent += 1
        case .rest: return
        }
        self.sendOutput(index)
    }

    private func sendCommit(_ index: Int, _ submit: (inout BenchClient, inout [UInt8]) -> BenchClient.Submission) {
        guard self.sockets[index].isWritable else {
            self.tally.missedSends += 1
            return
        }
        switch submit(&self.clients[index], &self.output) {
        case .said:
            self.tally.commitsSent += 1
            self.sendOutput(index)
        case .held:
            self.tally.heldCommits += 1
        case .impossible:
            self.tally.missedSends += 1
        }
    }

    // MARK: Slow readers

    private func readSlowly(at now: Int64) {
        guard self.slowReaders.takeTurn(at: now) else { return }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: self.input[..<self.slowReaders.bytes])
        for index in self.slowReaders.members where self.clients[index].readsSlowly { self.read(index, buffer) }
    }

    // MARK: Counting

    /// The counts and samples of an interval.
    struct Interval: Sendable {
        var tally = Tally()
        var live = 0
        /// Commits without an answer.
        var outstanding = 0
        /// This thread's usage so far.
        var thread = ThreadSample()
    }

    /// Returns the counts since the last call and resets them.
    func drainInterval() -> Interval {
        let interval = Interval(
            tally: self.tally, live: self.liveCount,
            outstanding: self.clients.reduce(0) { $0 + $1.outstandingCommits }, thread: .ofThisThread())
        self.tally = Tally()
        return interval
    }
}
