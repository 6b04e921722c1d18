internal import CLinux
internal import Glibc
package import Logging
package import Timing
package import Trust

protocol ReactorLink: AnyObject {
    /// True when `turn` has work: an event of the socket, or a deadline that passed.
    func needsTurn(at now: Instant) -> Bool
    /// Handles lifecycle and timers, and resets the budget of messages for this round.
    func turn(at now: Instant)
    /// When `turn` is due at the latest.
    var deadline: Instant? { get }
    /// Other peers, or other keys of them, are listed.
    func peersChanged(at now: Instant)
    /// Orderly end: says goodbye and closes, sending its queue for as long as LINGER allows.
    func close()
}

/// The thread-confined part of a reactor: its context and its poll set. Not Sendable.
package final class ReactorThread {
    /// The context of all sockets on this thread; closed last.
    package let context: MeshContext
    package let logger: Logger
    package let waker: Waker

    /// The own key pair and the peers, by which links over TCP are guarded; nil without keys.
    package let keys: LinkKeys?
    /// The peers as they were at the start of this round; none without keys.
    package private(set) var peers = PeerList()
    /// What was refused on this thread.
    package private(set) var refusals = LinkRefusals()
    /// Who was refused on this thread for its versions.
    private var incompatible = IncompatiblePeers()
    /// Changes with ``peers``.
    private var peersVersion = 0
    private var zap: ZapHandler?
    private var loggedRefusals: [LinkRefusal: Instant] = [:]

    private var sockets: [SocketCore] = []
    private var descriptors: [DescriptorSource] = []
    private var links: [any ReactorLink] = []
    private var entries: [pollfd] = []
    private var serial: UInt64 = 0
    /// True when the last poll found that the waker had been signalled.
    private var wasWoken = false
    /// The loop that watches the sockets in place of ``poll(until:)``, and what is called when a turn is due.
    private var host: (loop: any ReactorHost, due: () -> Void)?
    package private(set) var now = MonotonicClock.now()
    /// The time between the starts of the previous round and this one. Much more than a beat means that this process
    /// itself was frozen.
    private(set) var roundGap = Nanoseconds.zero

    init(context: MeshContext, logger: Logger, waker: Waker, keys: LinkKeys? = nil) {
        self.context = context
        self.logger = logger
        self.waker = waker
        self.keys = keys
    }

    // MARK: Keys

    /// Begins to answer for the keys of peers, if there are keys; before any socket is bound.
    func startGuard() throws(MeshError) {
        guard let keys = self.keys else { return }
        (self.peers, self.peersVersion) = keys.current
        self.zap = try ZapHandler(on: self)
    }

    /// What guards a socket that is bound: CURVE on TCP if there are keys, otherwise nothing.
    /// - Parameter roles: of the peers that may connect to it.
    package func security(binding endpoint: Endpoint, admitting roles: PeerRoles) -> SocketSecurity? {
        guard let keys = self.keys, let zap = self.zap, endpoint.isTCP else { return nil }
        return .server(keys.own, domain: zap.domain(admitting: roles))
    }

    /// Counts a refusal and, where keys are in use, logs it: at most one line every ten seconds for each reason.
    package func refused(_ reason: LinkRefusal, _ metadata: @autoclosure () -> Logger.Metadata) {
        self.refusals.count(reason)
        guard self.keys != nil else { return }
        guard self.loggedRefusals[reason].map({ self.now >= $0 + .seconds(10) }) ?? true else { return }
        self.loggedRefusals[reason] = self.now
        self.logger.warning(
            "peer refused", metadata: metadata().merging(["mesh.reason": "\(reason.rawValue)"]) { first, _ in first })
    }

    /// Counts a peer without a version in common, and logs it at intervals.
    /// - Parameters:
    ///   - peer: its name, or its address as long as it has said none.
    ///   - theirs: the versions that it speaks, in words.
    func refused(_ peer: String, speaking theirs: String, own: ClosedRange<UInt16>, _ metadata: Logger.Metadata) {
        self.refusals.count(.version)
        guard self.incompatible.refused(peer, speaking: theirs, at: self.now) else { return }
        let versions: Logger.Metadata = [
            "mesh.peer": "\(peer)", "mesh.versions.ours": "\(own.text)", "mesh.versions.theirs": "\(theirs)",
        ]
        self.logger.warning(
            "peer refused: it is of another version", metadata: metadata.merging(versions) { _, second in second })
    }

    func cameUp(_ peer: String) { self.incompatible.cameUp(peer) }

    /// Who is refused for its versions at present, in words; nil when nobody is.
    package func incompatibleNote(own: ClosedRange<UInt16>) -> String? {
        self.incompatible.note(own: own.text, at: self.now)
    }

    private func followPeers() {
        guard let keys = self.keys else { return }
        let (peers, version) = keys.current
        guard version != self.peersVersion else { return }
        (self.peers, self.peersVersion) = (peers, version)
        for link in self.links { link.peersChanged(at: self.now) }
    }

    /// Adds a foreign descriptor to the poll set until its source is cancelled.
    package func watch(descriptor: Int32, interest: DescriptorInterest) -> DescriptorSource {
        let source = DescriptorSource(descriptor, interest, self)
        self.descriptors.append(source)
        return source
    }

    func forget(_ source: DescriptorSource) { self.descriptors.removeAll { $0 === source } }

    func register(_ socket: SocketCore) throws(MeshError) {
        self.sockets.append(socket)
        guard let host = self.host else { return }
        try host.loop.watch(socket.signal) { [weak socket] in
            socket?.wasSignalled = true
            socket?.refresh()
            host.due()
        }
    }

    func unregister(_ socket: SocketCore) {
        self.sockets.removeAll { $0 === socket }
        self.host?.loop.unwatch(socket.signal)
    }

    func register(_ link: any ReactorLink) { self.links.append(link) }
    func unregister(_ link: any ReactorLink) { self.links.removeAll { $0 === link } }

    /// A number that is unique on this thread.
    func nextSerial() -> UInt64 {
        self.serial += 1
        return self.serial
    }

    // MARK: As a guest

    /// Has the sockets and the waker watched by another loop from now on.
    func follow(_ loop: any ReactorHost, due: @escaping () -> Void) throws(MeshError) {
        self.host = (loop, due)
        let waker = self.waker
        try loop.watch(waker.descriptor) {
            waker.acknowledge()
            due()
        }
    }

    /// Looks at the sockets that were used since they were looked at last: after that, each is signalled when something
    /// changes.
    /// - Returns: true when one of them is ready.
    func recheck() -> Bool {
        for socket in self.sockets {
            socket.wasSignalled = false
            if socket.isTouched { socket.refresh() }
        }
        return self.sockets.contains { $0.isReady }
    }

    /// Looks at everything without sleeping.
    /// - Returns: true when something was signalled.
    func look() -> Bool {
        self.poll(until: .start)
        return self.wasWoken || self.sockets.contains { $0.isReady || $0.wasSignalled }
    }

    // MARK: One round

    func turnLinks(at now: Instant) {
        self.roundGap = now.elapsed(since: self.now)
        self.now = now
        self.followPeers()
        for link in self.links where link.needsTurn(at: now) { link.turn(at: now) }
    }

    var linkDeadline: Instant? {
        var first: Instant?
        for link in self.links {
            if let deadline = link.deadline, deadline < first ?? .never { first = deadline }
        }
        return first
    }

    func closeLinks() {
        // The first of them, which answers for keys, closes last.
        for link in self.links.reversed() { link.close() }
        self.links.removeAll()
    }

    /// Sleeps until something is ready or `deadline` is reached (nil: no deadline), then records what is ready.
    func poll(until deadline: Instant?) {
        var somethingReady = false
        for socket in self.sockets {
            if socket.isTouched { socket.refresh() }
            if socket.isReady { somethingReady = true }
        }
        let limit: Int
        if somethingReady {
            limit = 0
        } else if let deadline {
            let now = MonotonicClock.now()
            limit = deadline > now ? Int(clamping: deadline.elapsed(since: now).count) : 0
        } else {
            limit = -1
        }
        self.fillEntries()
        let ready = self.entries.withUnsafeMutableBufferPointer { entries in
            linux_poll(entries.baseAddress, UInt(entries.count), limit)
        }
        // EINTR and the like count as nothing ready: the caller polls again.
        self.noteReadiness(any: ready > 0)
    }

    // Order of the entries: the waker, the sockets, the descriptors.
    private func fillEntries() {
        self.entries.removeAll(keepingCapacity: true)
        let readable = Int16(POLLIN)
        self.entries.append(pollfd(fd: self.waker.descriptor, events: readable, revents: 0))
        for socket in self.sockets {
            self.entries.append(pollfd(fd: socket.signal, events: readable, revents: 0))
        }
        for source in self.descriptors {
            let events =
                (source.interest.contains(.read) ? readable : 0)
                | (source.interest.contains(.write) ? Int16(POLLOUT) : 0)
            // poll(2) ignores a negative descriptor: otherwise it would report a hang-up even without interest.
            self.entries.append(pollfd(fd: events == 0 ? -1 : source.descriptor, events: events, revents: 0))
        }
    }

    private func noteReadiness(any: Bool) {
        self.wasWoken = any && self.entries[0].revents != 0
        if self.wasWoken { self.waker.acknowledge() }
        for (index, socket) in self.sockets.enumerated() {
            socket.wasSignalled = any && self.entries[1 + index].revents != 0
            if socket.wasSignalled { socket.refresh() }
        }
        let first = 1 + self.sockets.count
        let broken = Int16(POLLERR) | Int16(POLLHUP) | Int16(POLLNVAL)
        for (index, source) in self.descriptors.enumerated() {
            let events = any ? self.entries[first + index].revents : 0
            source.isReadable = events & (Int16(POLLIN) | broken) != 0
            source.isWritable = events & (Int16(POLLOUT) | broken) != 0
        }
    }
}
