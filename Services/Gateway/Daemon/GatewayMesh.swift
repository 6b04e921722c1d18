import Boot
import GatewayCore
import Mesh
import Stages
import Timing
import Wire

/// The links to all coalescers, committers and fan-outs, and to other back ends.
///
/// It decides nothing. Envelopes go to the instance that they name; what instances send is collected for the hub.
final class GatewayMesh: ReactorLoop {
    /// The links to a stage, and what waits for each of them. Commits here are bounded by credit; the bound of the outboxes
    /// is for the rest.
    private struct Exit {
        let links: StageLinks
        var outboxes = InstanceTable<Outbox>()
    }

    private let thread: ReactorThread
    private var figures = FigurePace()
    private var exits: [Exit] = []
    private let telemetry: GatewayTelemetry
    private var face: FaceSocket?
    /// What came and was not taken yet.
    private var news: [MeshNews] = []
    /// Bytes that may wait for one link. A fan-out that is further behind than that gets nothing more: joins are asked for
    /// again, reads end at their deadlines, and what else was lost is made good when its link comes up the next time.
    private static let maxWaitingBytes = 16 << 20
    /// High-water mark of the links to coalescers, envelopes.
    private static let sendMark = 1000

    init(
        on thread: ReactorThread, name: String, settings: GatewaySettings, sets: StageSets, telemetry: GatewayTelemetry
    ) throws {
        self.thread = thread
        self.telemetry = telemetry
        self.face = try settings.face.map { endpoint in
            try FaceSocket(on: thread, endpoint: try Endpoint(endpoint), maxMessage: settings.limits.messageBytes)
        }
        let identity = LinkIdentity(daemon: name)
        func add(_ set: StageSet, options: LinkOptions) throws {
            let links = try StageLinks(on: thread, to: set, identity: identity, options: options)
            self.exits.append(Exit(links: links))
        }
        try add(sets[.coalescer], options: .outgoing(sendHighWater: Self.sendMark))
        try add(sets[.committer], options: .answering())
        try add(sets[.fanout], options: .answering())
    }

    func turn(at now: Instant) -> Instant? {
        for exit in self.exits.indices { self.exits[exit].links.read { self.handle($0, of: exit) } }
        let isMoreToRead = self.face?.receive(into: &self.news) ?? false
        if self.figures.isDue(at: now) { self.showFigures() }
        return isMoreToRead ? now : nil
    }

    /// True when something came that was not taken yet.
    var hasNews: Bool { !self.news.isEmpty }

    /// Removes and returns what came.
    func takeNews() -> [MeshNews] { exchange(&self.news, with: []) }

    func stopped() {
        // Not a link: nobody else closes it.
        self.face = nil
    }

    private func showFigures() {
        self.telemetry.linkRefusals.publish(self.thread)
        for exit in self.exits { self.telemetry.linksUp(exit.links.stage, exit.links.owners.upCount) }
        self.telemetry.reconnects(self.exits.reduce(0) { $0 &+ $1.links.reconnects })
    }

    // MARK: Reading

    private func handle(_ event: StageLinks.Event, of exit: Int) {
        let links = self.exits[exit].links
        switch event {
        case .added(let instance, let name): self.news.append(.added(StageInstance(links.stage, instance), name: name))
        case .removed(let instance): self.news.append(.removed(StageInstance(links.stage, instance)))
        case .up(let instance, let greeting):
            self.news.append(
                .up(StageInstance(links.stage, instance), greeting: greeting, isResting: links.isResting(instance)))
            self.tellOfCoalescer(instance, of: links, isOpen: true)
        case .down(let instance):
            self.exits[exit].outboxes[instance] = nil
            self.news.append(.down(StageInstance(links.stage, instance)))
            self.tellOfCoalescer(instance, of: links, isOpen: false)
        case .resting(let instance):
            self.news.append(.resting(StageInstance(links.stage, instance), links.isResting(instance)))
        case .writable(let instance):
            self.flush(exit, instance)
            self.tellOfCoalescer(instance, of: links, isOpen: true)
        case .envelope(let instance, let bytes):
            self.news.append(.envelope(StageInstance(links.stage, instance), [UInt8](bytes)))
        }
    }

    private func tellOfCoalescer(_ instance: Int, of links: StageLinks, isOpen: Bool) {
        if links.stage == .coalescer { self.news.append(.coalescer(instance, isOpen: isOpen)) }
    }

    // MARK: Sending

    private static func emptyOutbox() -> Outbox {
        Outbox(limit: Self.maxWaitingBytes, largestEnvelope: LinkOptions.maximumIncomingBytes)
    }

    /// Sends what the hub has decided.
    func send(_ orders: [MeshOrder]) {
        for order in orders {
            switch order {
            case .envelope(let envelope): self.send(envelope)
            case .face(let peer, let text):
                if self.face?.send(text, to: peer) == false { self.news.append(.faceGone(peer: peer)) }
            }
        }
    }

    private func send(_ envelope: OutgoingEnvelope) {
        let instance = envelope.instance.number
        // There are three: they are looked through.
        let exit = self.exits.firstIndex { $0.links.stage == envelope.instance.stage }
        // One that was removed gets nothing more.
        guard let exit, self.exits[exit].links.contains(instance) else { return }
        let isBlocked = self.exits[exit].outboxes[instance]?.isEmpty == false
        self.exits[exit].outboxes[instance, default: Self.emptyOutbox()].append(envelope: envelope.bytes)
        if !isBlocked { self.flush(exit, instance) }
        self.telemetry.mailDropped(self.exits[exit].outboxes[instance]?.takeDropped() ?? 0)
        if self.exits[exit].outboxes[instance]?.isEmpty == false {
            self.tellOfCoalescer(instance, of: self.exits[exit].links, isOpen: false)
        }
    }

    /// Sends what waits for an instance. What is for one that is down counts as sent: its senders hear of that anyway.
    private func flush(_ exit: Int, _ instance: Int) {
        let links = self.exits[exit].links
        self.exits[exit].outboxes[instance]?.flush { links.send($0, to: instance) == .wouldBlock ? .wouldBlock : .sent }
    }
}
