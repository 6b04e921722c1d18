import CLinux
import Glibc

/// The event loop of all connections of a load, on the calling thread.
///
/// One turn does what is due, then waits for the sockets until the next deadline. It checks the time between two
/// sockets (each read needs it anyway), so that sends do not wait until everything is read. Every socket is registered
/// with epoll(7) once for all events, edge-triggered, and costs no system calls but its own reads and writes. Times are
/// nanoseconds since the loop was made.
final class LoadLoop {
    /// Sends that are due within this time leave with those that are due now. Otherwise a load with many senders would
    /// wake up for each of them.
    private static let grain: Int64 = 100_000
    /// Sends that are later than this are skipped.
    private static let patience: Int64 = 1_000_000_000

    /// The counts since it was last set.
    var tally = Tally()
    private(set) var liveCount = 0
    /// Why the last connection ended unexpectedly; nil when none did.
    private(set) var failure: String?

    private let origin = LoadLoop.uptime()
    private let poller = linux_epoll()
    private let events = UnsafeMutableBufferPointer<linux_epoll_event>.allocate(capacity: 1024)
    private let load: Load
    private var clients: [Client]
    private var sockets: [ClientSocket]
    private var dialler = Dialler()
    /// When the clients send, by ``Client/Message``.
    private var schedules = Client.Message.allCases.map { _ in SendSchedule() }
    private var nextSend = Int64.max
    private var nextSlowRead = Int64.max
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    /// Reused for each write.
    private var output: [UInt8] = []

    /// - Parameter load: the connections; what they send is set by ``beginSending(_:)``.
    init(_ load: Load, _ target: Target) {
        self.load = load
        self.clients = (0..<load.connections).map { Client($0, load, target) }
        self.sockets = self.clients.map { _ in ClientSocket() }
    }

    deinit {
        for index in self.sockets.indices { self.sockets[index].close() }
        close(self.poller)
        self.events.deallocate()
        self.input.deallocate()
    }

    var now: Int64 { Self.uptime() - self.origin }

    private static func uptime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    var outstandingCommits: Int { self.clients.reduce(0) { $0 + $1.outstandingCommits } }

    /// Why connections are missing, for people: the reason why the last one ended, or the response that one waits for.
    var obstacle: String {
        self.failure ?? self.clients.first { $0.phase != .live }.map { "waiting for \($0.phase.rawValue)" } ?? ""
    }

    /// Runs turns for some seconds.
    /// - Parameter enough: live connections with which it returns early.
    func run(for seconds: Int64, until enough: Int = .max) {
        self.run(until: self.now + seconds * 1_000_000_000, enough)
    }

    func run(until end: Int64, _ enough: Int = .max) {
        while true {
            let now = self.now
            if now >= self.nextSend { self.sendDue() }
            while let client = self.dialler.next(at: now) { self.dial(client) }
            if now >= self.nextSlowRead { self.readSlowly() }
            guard now < end, self.liveCount < enough else { return }
            let limit = min(end, self.nextSend, self.dialler.nextDeadline, self.nextSlowRead) - self.now
            let count = linux_epoll_wait(
                self.poller, self.events.baseAddress, Int32(self.events.count), Int(max(0, limit)))
            for event in self.events[..<max(0, Int(count))] { self.handle(event) }
        }
    }

    private func handle(_ event: linux_epoll_event) {
        let index = Int(truncatingIfNeeded: event.tag)
        guard self.sockets[index].isOpen else { return }
        if event.events & linux_epoll_out != 0 {
            if self.clients[index].phase == .dialling { self.opened(index) }
            if !self.sockets[index].isWritable { self.sockets[index].send() }
        }
        if !self.clients[index].readsSlowly {
            self.read(index, self.input)
        } else if event.events & (linux_epoll_peer_hangup | linux_epoll_hangup | linux_epoll_error) != 0 {
            self.end(index, reason: nil)
        }
    }

    /// Reads until nothing is left, or once with a smaller buffer than all available bytes may need.
    private func read(_ index: Int, _ buffer: UnsafeMutableRawBufferPointer) {
        while self.sockets[index].isOpen {
            let received = self.sockets[index].receive(into: buffer)
            let now = self.now
            guard let count = received else { return }
            guard count > 0 else { return self.end(index, reason: count < 0 ? ClientSocket.text(Int32(-count)) : nil) }
            self.received(index, UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
            if now >= self.nextSend { self.sendDue() }
            if count < self.input.count { return }
        }
    }

    private func received(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) {
        self.tally.bytesIn += bytes.count
        let wasLive = self.clients[index].phase == .live
        let failure = self.clients[index].received(bytes, at: now, tally: &self.tally, output: &self.output)
        self.sendOutput(index)
        if !wasLive, self.clients[index].phase == .live {
            self.dialler.greeted()
            self.liveCount += 1
        }
        if let failure { self.end(index, reason: failure) }
    }

    private func sendOutput(_ index: Int) {
        guard !self.output.isEmpty else { return }
        self.tally.bytesOut += self.output.count
        self.sockets[index].send(self.output)
        self.output.removeAll(keepingCapacity: true)
    }

    /// Slow readers read once a second.
    private func readSlowly() {
        self.nextSlowRead = max(self.now, self.nextSlowRead + 1_000_000_000)
        let buffer = UnsafeMutableRawBufferPointer(rebasing: self.input[..<self.load.slowBytes])
        for index in self.clients.indices where self.clients[index].readsSlowly { self.read(index, buffer) }
    }

    /// Begins to connect the members, or the idle ones, over the ramp.
    func connect(idle: Bool) {
        let those = self.clients.indices.filter { (self.clients[$0].member == nil) == idle }
        self.dialler.ramp(those, from: self.now, over: Int64(self.load.ramp * 1e9))
    }

    private func dial(_ index: Int) {
        self.clients[index].dial()
        var error = self.sockets[index].dial(self.clients[index].address, isSlow: self.clients[index].isSlow)
        if error == 0 {
            let flags = linux_epoll_in | linux_epoll_out | linux_epoll_peer_hangup | linux_epoll_edges
            error = -linux_epoll_add(self.poller, self.sockets[index].descriptor, flags, UInt64(index))
        }
        if error != 0 { self.end(index, reason: ClientSocket.text(error)) }
    }

    private func opened(_ index: Int) {
        let error = self.sockets[index].connected()
        guard error == 0 else { return self.end(index, reason: ClientSocket.text(error)) }
        self.clients[index].opened(into: &self.output)
        self.sendOutput(index)
    }

    /// Ends a connection; the client reconnects.
    private func end(_ index: Int, reason: String?) {
        self.failure = reason ?? self.failure
        self.sockets[index].close()
        if self.clients[index].phase == .live {
            self.liveCount -= 1
            self.tally.cuts += 1
            self.tally.slowCuts += self.clients[index].isSlow ? 1 : 0
        } else {
            self.dialler.greeted()
        }
        self.clients[index].ended()
        self.dialler.again(index, at: self.now)
    }

    /// Begins to send a moment later.
    /// - Parameter load: what to send, by the members of the connected load; nil: nothing any more.
    func beginSending(_ load: Load?) {
        let start = self.now + 10_000_000
        func schedule(_ perRoom: Int, _ rate: Double) -> SendSchedule {
            let senders = self.clients.compactMap { client in
                client.number(amongFirst: perRoom).map { ($0, client.index) }
            }
            return SendSchedule(senders, period: Int64(1e9 / max(rate, 1e-6)), start: start)
        }
        self.schedules = Client.Message.allCases.map { _ in SendSchedule() }
        if let load {
            self.schedules[0] = schedule(load.previewersPerRoom, load.rate)
            self.schedules[1] = schedule(load.committersPerRoom, load.committerRate)
            self.schedules[2] = schedule(load.groupRate > 0 ? 1 : 0, load.groupRate / Double(max(1, load.rooms)))
        }
        if self.load.slowPerRoom > 0, self.load.slowBytes > 0 { self.nextSlowRead = min(self.nextSlowRead, start) }
        self.nextSend = start
    }

    private func sendDue() {
        var now = self.now
        for message in Client.Message.allCases {
            self.tally.missedSends += self.schedules[message.rawValue].skip(olderThan: Self.patience, at: now)
            // The clock is read for each message, because it carries the time at which it is written.
            while let (sender, deadline) = self.schedules[message.rawValue].next(at: now + Self.grain) {
                now = self.now
                self.tally.lateness.record(now - deadline)
                self.send(message, by: sender, at: now)
            }
        }
        self.nextSend = self.schedules.reduce(.max) { min($0, $1.nextDeadline) }
    }

    private func send(_ message: Client.Message, by index: Int, at now: Int64) {
        let isWritable = self.sockets[index].isWritable
        switch isWritable ? self.clients[index].send(message, at: now, into: &self.output) : .impossible {
        case .preview: self.tally.previewsSent += 1
        case .commit: self.tally.commitsSent += 1
        case .held: self.tally.heldCommits += 1
        case .impossible: self.tally.missedSends += 1
        }
        self.sendOutput(index)
    }
}
