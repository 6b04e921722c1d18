import Boot
import DequeModule
import GatewayCore
import Logging
import Mesh
import Wire

/// The gateway's half of the mesh: one thread that owns the links to all coalescers, committers and fan-outs.
///
/// It decides nothing. Envelopes come in batches from the event loop and go to the peer that they name; what peers
/// send goes to the event loop in batches.
final class GatewayMesh: ReactorLoop {
    /// One link, and what it carries.
    private struct Line {
        let stage: Stage
        let peer: String
        let lane: Lane
        let link: PeerLink
        /// Envelopes that wait for room. Commits here are bounded by credit; the bound is for the rest.
        var waiting: Deque<[UInt8]> = []
        var waitingBytes = 0
    }

    private var lines: [Line] = []
    private let outbox: Mailbox<MeshOrder>
    private let news: Mailbox<MeshNews>
    private let logger: Logger
    private let telemetry: GatewayTelemetry
    private var outgoing: [MeshOrder] = []
    private let face: FaceSocket?
    private var fresh: [MeshNews] = []
    /// News that the event loop's mailbox had no room for; links are read again once it is handed over.
    private var hasBacklog: Bool { !self.fresh.isEmpty }
    /// Bytes that may wait for one link. A fan-out that is further behind than that gets nothing more: joins and reads
    /// are asked for again, and what else was lost is made good when its link comes up the next time.
    private static let maxWaitingBytes = 16 << 20

    init(
        on thread: ReactorThread, name: String, settings: GatewaySettings, outbox: Mailbox<MeshOrder>,
        news: Mailbox<MeshNews>, telemetry: GatewayTelemetry
    ) throws {
        self.outbox = outbox
        self.news = news
        self.logger = thread.logger
        self.telemetry = telemetry
        self.face = try settings.face.map { endpoint in
            try FaceSocket(
                on: thread, endpoint: try Endpoint(endpoint), maxMessage: settings.limits.messageBytes)
        }
        let identity = LinkIdentity(name: name, protocolVersion: UInt16(EnvelopeWriter.version))
        func add(_ stage: Stage, _ address: PeerAddress, lane: Lane) throws {
            let base = try Endpoint(address.endpoint)
            let endpoint = lane == .previews ? try base.lane("previews") : base
            let link = try PeerLink(on: thread, to: endpoint, identity: identity)
            self.lines.append(Line(stage: stage, peer: address.name, lane: lane, link: link))
        }
        for address in settings.coalescers {
            try add(.coalescer, address, lane: .main)
            try add(.coalescer, address, lane: .previews)
        }
        for address in settings.committers { try add(.committer, address, lane: .main) }
        for address in settings.fanouts { try add(.fanout, address, lane: .main) }
    }

    // There are few, and every envelope asks: they are looked through.
    private func line(of envelope: OutgoingEnvelope) -> Int? {
        self.lines.firstIndex {
            $0.stage == envelope.stage && $0.lane == envelope.lane && $0.peer == envelope.peer
        }
    }

    func turn(now: UInt64) -> UInt64? {
        self.sendOutgoing()
        var isMoreToRead = false
        if !self.hasBacklog {
            for line in self.lines.indices { self.readLine(line) }
            if self.face?.receive(into: &self.fresh) == true { isMoreToRead = true }
        }
        let weight = self.fresh.reduce(0) { $0 + $1.weight }
        if self.hasBacklog, self.news.handOver(&self.fresh, weight: weight) == .full {
            // The event loop is behind: the links keep what comes, up to their high-water marks.
            return now + 1_000_000
        }
        return isMoreToRead ? now : nil
    }

    private func readLine(_ line: Int) {
        let entry = self.lines[line]
        while let event = entry.link.next() {
            switch event {
            case .up(let hello):
                self.logger.info(
                    "link up", metadata: ["mesh.peer": "\(entry.peer)", "mesh.instance": "\(hello.instance)"])
                self.linkUp(entry, hello)
            case .down(let loss):
                self.logger.warning("link down", metadata: ["mesh.peer": "\(entry.peer)", "mesh.loss": "\(loss)"])
                self.lines[line].waiting = []
                self.lines[line].waitingBytes = 0
                self.linkDown(entry)
            case .resting(let isResting):
                if entry.lane == .main { self.fresh.append(.resting(entry.stage, peer: entry.peer, isResting)) }
            case .message:
                self.fresh.append(.envelope(entry.stage, peer: entry.peer, entry.link.incoming.bytes(at: 0)))
            case .writable:
                self.flushWaiting(line)
                if entry.lane == .previews { self.fresh.append(.previewLane(peer: entry.peer, isOpen: true)) }
            }
        }
    }

    private func linkUp(_ line: Line, _ hello: Hello) {
        switch line.lane {
        case .main:
            self.fresh.append(
                .up(line.stage, peer: line.peer, greeting: hello.greeting, isResting: line.link.isResting))
        case .previews: self.fresh.append(.previewLane(peer: line.peer, isOpen: true))
        }
    }

    private func linkDown(_ line: Line) {
        switch line.lane {
        case .main: self.fresh.append(.down(line.stage, peer: line.peer))
        case .previews: self.fresh.append(.previewLane(peer: line.peer, isOpen: false))
        }
    }

    // MARK: Sending

    private func sendOutgoing() {
        self.outbox.drain(into: &self.outgoing)
        for order in self.outgoing {
            switch order {
            case .envelope(let envelope):
                guard let line = self.line(of: envelope) else { continue }
                self.send(envelope.bytes, on: line)
            case .face(let peer, let text):
                if self.face?.send(text, to: peer) == false { self.fresh.append(.faceGone(peer: peer)) }
            }
        }
        self.outgoing.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: [UInt8], on line: Int) {
        let entry = self.lines[line]
        guard entry.waiting.isEmpty else {
            self.wait(bytes, on: line)
            return
        }
        switch entry.link.send(bytes) {
        case .sent, .unroutable: break
        case .wouldBlock: self.wait(bytes, on: line)
        }
    }

    private func wait(_ bytes: [UInt8], on line: Int) {
        let entry = self.lines[line]
        if entry.lane == .previews { self.fresh.append(.previewLane(peer: entry.peer, isOpen: false)) }
        guard entry.waitingBytes + bytes.count <= Self.maxWaitingBytes || entry.waiting.isEmpty else {
            self.telemetry.mailDropped(1)
            return
        }
        self.lines[line].waiting.append(bytes)
        self.lines[line].waitingBytes += bytes.count
    }

    private func flushWaiting(_ line: Int) {
        while let bytes = self.lines[line].waiting.first, self.lines[line].link.send(bytes) == .sent {
            self.lines[line].waiting.removeFirst()
            self.lines[line].waitingBytes -= bytes.count
        }
    }
}
