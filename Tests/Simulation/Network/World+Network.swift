import Mesh
import Stages

// The mesh between the daemons.

extension World {
    /// The silence after which a link is given up.
    static let silence: UInt64 = 2500 * .millisecond

    /// Opens a link as soon as both ends can.
    func dial(_ link: Link, after pause: UInt64) {
        let (life, other) = (link.dialler.life, link.server.life)
        self.after(pause) { [unowned self] in
            guard link.dialler.life == life, link.session == nil, link.isListed else { return }
            let isBlocked = link.stalled.contains { $0 > self.now }
            guard link.dialler.isRunning, link.server.isRunning, !isBlocked else {
                let same = link.server.life == other
                return self.dial(link, after: self.random.number((same ? 50 : 100)...400) * .millisecond)
            }
            self.greet(link)
        }
    }

    /// The server is greeted first; its answer brings the dialler up, behind which the link's order begins.
    private func greet(_ link: Link) {
        link.lastSession += 1
        let session = link.lastSession
        link.serverSessions.insert(session)
        self.deliver(.peerUp(PeerID(link, session)), to: link.server)
        let life = link.dialler.life
        let (isResting, greeting) = (link.server.isResting, link.server.greeting)
        self.at(self.arrival(on: link, .back)) { [unowned self] in
            guard link.dialler.life == life, link.session == nil, link.isListed else { return }
            guard link.serverSessions.contains(session) else { return self.dial(link, after: 100 * .millisecond) }
            link.session = session
            link.isResting = isResting
            link.greeting = greeting
            self.note("up \(link.name)")
            self.deliver(.up(link), to: link.dialler)
            self.repeatRecent(link)
        }
    }

    /// What was sent last on the connection before may come again on this one.
    private func repeatRecent(_ link: Link) {
        guard link.isIdempotent, self.random.chance(30) else { return }
        for envelope in link.recent {
            self.count("faults.duplicated")
            self.send(envelope, on: link)
        }
        link.recent = []
    }

    /// A daemon says whether others of its stage should be chosen; each dialler hears it in the link's order.
    func rest(_ process: Process, _ isResting: Bool) {
        guard process.isResting != isResting else { return }
        process.isResting = isResting
        self.note("\(process.name) \(isResting ? "rests" : "serves")")
        for link in self.links where link.server === process {
            for session in link.serverSessions.sorted() {
                self.at(self.arrival(on: link, .back)) { [unowned self] in
                    // Ahead of the hello it is known with it; see ``greet(_:)``.
                    guard link.session == session else { return }
                    link.isResting = isResting
                    self.deliver(.resting(link), to: link.dialler)
                }
            }
        }
    }

    /// The name at the dialling end.
    func name(of peer: PeerID) -> String { self.links[peer.link].dialler.name }

    // MARK: Sending

    /// Sends an envelope over a dialled link.
    @discardableResult
    func send(_ envelope: [UInt8], on link: Link) -> SendResult {
        guard let session = link.session else { return .unroutable }
        guard link.fullUntil[Link.Direction.forth.rawValue] <= self.now else { return .wouldBlock }
        self.passes(envelope)
        if link.isIdempotent { link.recent = link.recent.suffix(2) + [envelope] }
        self.at(self.arrival(on: link, .forth)) { [unowned self] in
            guard link.serverSessions.contains(session) else { return self.count("lost.envelopes") }
            self.deliver(.peerMessage(PeerID(link, session), envelope), to: link.server)
        }
        return .sent
    }

    /// Sends an envelope to a peer of a bound link.
    func send(_ envelope: [UInt8], to peer: PeerID) -> SendResult {
        let link = self.links[peer.link]
        guard link.serverSessions.contains(peer.session) else { return .unroutable }
        guard link.fullUntil[Link.Direction.back.rawValue] <= self.now else { return .wouldBlock }
        self.passes(envelope)
        self.at(self.arrival(on: link, .back)) { [unowned self] in
            guard link.session == peer.session else { return self.count("lost.envelopes") }
            self.deliver(.message(link, envelope), to: link.dialler)
        }
        return .sent
    }

    /// A direction is full for a while: nothing is accepted, then who sends is told.
    func fill(_ link: Link, _ direction: Link.Direction, for time: UInt64) {
        self.note("fill \(link.name) \(direction) for \(time / .millisecond) ms")
        let end = self.now + time
        link.fullUntil[direction.rawValue] = end
        self.after(time) { [unowned self] in
            guard link.fullUntil[direction.rawValue] == end else { return }
            switch direction {
            case .forth: self.deliver(.writable(link), to: link.dialler)
            case .back:
                for session in link.serverSessions.sorted() {
                    self.deliver(.peerWritable(PeerID(link, session)), to: link.server)
                }
            }
        }
    }

    private func arrival(on link: Link, _ direction: Link.Direction) -> UInt64 {
        var latency = self.random.number(20...400) * 1000
        if link.slowUntil > self.now { latency += self.random.number(50...600) * .millisecond }
        let at = max(self.now + latency, link.arrival[direction.rawValue] + 1, link.stalled[direction.rawValue])
        link.arrival[direction.rawValue] = at
        return at
    }

    // MARK: Ends

    /// The dialler gives its connection up, and dials again after a while.
    func closeDialler(_ link: Link) {
        guard link.session != nil else { return }
        link.session = nil
        self.note("down \(link.name)")
        self.deliver(.down(link), to: link.dialler)
        self.dial(link, after: self.random.number(50...300) * .millisecond)
    }

    /// The dialler takes leave of a server that it does not know any more: what it sent before still arrives.
    func close(_ link: Link) {
        let sessions = link.serverSessions.sorted()
        if link.session != nil {
            link.session = nil
            self.note("close \(link.name)")
            self.deliver(.down(link), to: link.dialler)
        }
        self.at(self.arrival(on: link, .forth)) { [unowned self] in
            for session in sessions { self.closeServer(link, session) }
        }
    }

    /// The server gives a connection up.
    func closeServer(_ link: Link, _ session: Int) {
        guard link.serverSessions.remove(session) != nil else { return }
        self.deliver(.peerDown(PeerID(link, session)), to: link.server)
    }

    /// Both ends lose the connection, each in its own time; what is under way is lost from then on.
    func reset(_ link: Link, within time: UInt64) {
        self.note("reset \(link.name)")
        let sessions = self.connections(of: link)
        self.after(self.random.number(0...time)) { [unowned self] in self.closeDialler(link, ifAmong: sessions) }
        self.after(self.random.number(0...time)) { [unowned self] in
            for session in sessions { self.closeServer(link, session) }
        }
    }

    /// Nothing arrives in one direction, or both, for a while. After a silence that is too long an end gives up, and
    /// the other one is told as soon as it can be.
    func cut(_ link: Link, _ directions: [Link.Direction], for time: UInt64) {
        self.note("cut \(link.name) \(directions) for \(time / .millisecond) ms")
        let end = self.now + time
        for direction in directions {
            link.stalled[direction.rawValue] = max(link.stalled[direction.rawValue], end)
        }
        guard time > Self.silence else { return }
        let sessions = self.connections(of: link)
        self.after(Self.silence) { [unowned self] in
            let isMutual = directions.count == 2
            let lag = isMutual ? self.random.number(0...500) * .millisecond : self.random.number(0...5) * .millisecond
            let (first, second) = directions[0] == .forth ? (UInt64(0), lag) : (lag, UInt64(0))
            self.after(first) { [unowned self] in for session in sessions { self.closeServer(link, session) } }
            self.after(second) { [unowned self] in self.closeDialler(link, ifAmong: sessions) }
        }
    }

    /// The connections of a link that an end believes in. The dialler may not be up yet: the answer to its greeting is under
    /// way, and may still come.
    private func connections(of link: Link) -> [Int] {
        link.serverSessions.union([link.session].compactMap(\.self)).sorted()
    }

    private func closeDialler(_ link: Link, ifAmong sessions: [Int]) {
        if let session = link.session, sessions.contains(session) { self.closeDialler(link) }
    }
}
