import Boot
import GatewayCore
import Mesh
import Stages
import Timing
import Wire

/// The gateway's half of the mesh: one thread that owns the links to all coalescers, committers and fan-outs.
///
/// It decides nothing. Envelopes come in batches from the event loop and go to the instance that they name; what
/// instances send goes to the event loop in batches.
final class GatewayMesh: ReactorLoop {
    /// The links of one lane to a stage, and what waits for each of them. Commits here are bounded by credit; the bound
    /// of the outboxes is for the rest.
    private struct Exit {
        let lane: MeshLane
        let links: StageLinks
        var outboxes = InstanceTable<Outbox>()
        /// How many times each link came up.
        var connections = InstanceTable<UInt32>()
    }

    private let thread: ReactorThread
    private var figures = FigurePace()
    private var exits: [Exit] = []
    private let outbox: Mailbox<MeshOrder>
    private let news: Mailbox<MeshNews>
    private let telemetry: GatewayTelemetry
    private var outgoing: [MeshOrder] = []
    private let face: FaceSocket?
    private var fresh: [MeshNews] = []
    /// News that the event loop's mailbox had no room for; links are read again once it is handed over.
    private var hasBacklog: Bool { !self.fresh.isEmpty }
    /// Bytes that may wait for one link. A fan-out that is further behind than that gets nothing more: joins and reads
    /// are asked for again, and what else was lost is made good when its link comes up the next time.
    private static let maxWaitingBytes = 16 << 20
    /// High-water mark of the links to coalescers, envelopes.
    private static let sendMark = 1000

    init(
        on thread: ReactorThread, name: String, settings: GatewaySettings, sets: StageSets,
        outbox: Mailbox<MeshOrder>, news: Mailbox<MeshNews>, telemetry: GatewayTelemetry
    ) throws {
        self.thread = thread
        self.outbox = outbox
        self.news = news
        self.telemetry = telemetry
        self.face = try settings.face.map { endpoint in
            try FaceSocket(on: thread, endpoint: try Endpoint(endpoint), maxMessage: settings.limits.messageBytes)
        }
        let identity = LinkIdentity(daemon: name)
        let credit = LinkOptions.outgoing(sendHighWater: Self.sendMark)
        func add(_ set: StageSet, _ lane: MeshLane = .main, options: LinkOptions) throws {
            let links = try StageLinks(
                on: thread, to: set, lane: lane == .previews ? "previews" : nil, identity: identity, options: options)
            self.exits.append(Exit(lane: lane, links: links))
        }
        try add(sets[.coalescer], options: credit)
        try add(sets[.coalescer], .previews, options: credit)
        try add(sets[.committer], options: .answering())
        try add(sets[.fanout], options: .answering())
    }

    func turn(at now: Instant) -> Instant? {
        self.sendOutgoing()
        var isMoreToRead = false
        if !self.hasBacklog {
            for exit in self.exits.indices { self.exits[exit].links.read { self.handle($0, of: exit) } }
            if self.face?.receive(into: &self.fresh) == true { isMoreToRead = true }
        }
        if self.figures.isDue(at: now) { self.showFigures() }
        let weight = self.fresh.reduce(0) { $0 + $1.weight }
        if self.hasBacklog, self.news.handOver(&self.fresh, weight: weight) == .full {
            // The event loop is behind: the links keep what comes, up to their high-water marks.
            return now + .milliseconds(1)
        }
        return isMoreToRead ? now : nil
    }

    private func showFigures() {
        self.telemetry.linkRefusals.publish(self.thread)
        for exit in self.exits where exit.lane == .main {
            self.telemetry.linksUp(exit.links.stage, exit.links.owners.upCount)
        }
        self.telemetry.reconnects(self.exits.reduce(0) { $0 &+ $1.links.reconnects })
    }

    // MARK: Reading

    private func handle(_ event: StageLinks.Event, of exit: Int) {
        let links = self.exits[exit].links
        let isMain = self.exits[exit].lane == .main
        switch event {
        case .added(let instance, let name):
            if isMain { self.fresh.append(.added(StageInstance(links.stage, instance), name: name)) }
        case .removed(let instance):
            if isMain { self.fresh.append(.removed(StageInstance(links.stage, instance))) }
        case .up(let instance, let greeting):
            guard isMain else {
                self.fresh.append(.previewLane(instance, isOpen: true))
                break
            }
            let connection = (self.exits[exit].connections[instance] ?? 0) &+ 1
            self.exits[exit].connections[instance] = connection
            self.fresh.append(
                .up(
                    StageInstance(links.stage, instance), connection: connection, greeting: greeting,
                    isResting: links.isResting(instance)))
        case .down(let instance):
            self.exits[exit].outboxes[instance] = nil
            self.fresh.append(
                isMain ? .down(StageInstance(links.stage, instance)) : .previewLane(instance, isOpen: false))
        case .resting(let instance):
            if isMain { self.fresh.append(.resting(StageInstance(links.stage, instance), links.isResting(instance))) }
        case .writable(let instance):
            self.flush(exit, instance)
            if !isMain { self.fresh.append(.previewLane(instance, isOpen: true)) }
        case .envelope(let instance, let bytes):
            self.fresh.append(.envelope(StageInstance(links.stage, instance), [UInt8](bytes)))
        }
    }

    // MARK: Sending

    private static func emptyOutbox() -> Outbox {
        Outbox(limit: Self.maxWaitingBytes, largestEnvelope: LinkOptions.maximumIncomingBytes)
    }

    private func sendOutgoing() {
        self.outbox.drain(into: &self.outgoing)
        for order in self.outgoing {
            switch order {
            case .envelope(let envelope): self.send(envelope)
            case .face(let peer, let text):
                if self.face?.send(text, to: peer) == false { self.fresh.append(.faceGone(peer: peer)) }
            }
        }
        self.outgoing.removeAll(keepingCapacity: true)
    }

    private func send(_ envelope: OutgoingEnvelope) {
        let instance = envelope.instance.number
        // There are four: they are looked through.
        let exit = self.exits.firstIndex { $0.links.stage == envelope.instance.stage && $0.lane == envelope.lane }
        // One that was removed gets nothing more.
        guard let exit, self.exits[exit].links.contains(instance) else { return }
        // What is for a connection that is gone counts as sent, as below.
        if let connection = envelope.connection, connection != self.exits[exit].connections[instance] { return }
        let isBlocked = self.exits[exit].outboxes[instance]?.isEmpty == false
        self.exits[exit].outboxes[instance, default: Self.emptyOutbox()].append(envelope: envelope.bytes)
        if !isBlocked { self.flush(exit, instance) }
        self.telemetry.mailDropped(self.exits[exit].outboxes[instance]?.takeDropped() ?? 0)
        if envelope.lane == .previews, self.exits[exit].outboxes[instance]?.isEmpty == false {
            self.fresh.append(.previewLane(instance, isOpen: false))
        }
    }

    /// Sends what waits for an instance. What is for one that is down counts as sent: its senders hear of that anyway.
    private func flush(_ exit: Int, _ instance: Int) {
        let links = self.exits[exit].links
        self.exits[exit].outboxes[instance]?.flush { links.send($0, to: instance) == .wouldBlock ? .wouldBlock : .sent }
    }
}
