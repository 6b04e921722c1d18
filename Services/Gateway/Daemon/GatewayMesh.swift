import Boot
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
        /// Envelopes of the commit lane that wait for room; bounded, since the gateway sends commits again anyway.
        var waiting: [[UInt8]] = []
    }

    private var lines: [Line] = []
    private var index: [String: Int] = [:]
    private let outbox: Mailbox<MeshOrder>
    private let news: Mailbox<MeshNews>
    private let logger: Logger
    private var outgoing: [MeshOrder] = []
    private let face: FaceSocket?
    private var fresh: [MeshNews] = []
    /// News that the event loop's mailbox had no room for; links are read again once it is handed over.
    private var hasBacklog: Bool { !self.fresh.isEmpty }
    /// Envelopes that may wait for one link.
    private static let maxWaiting = 4096

    init(
        on thread: ReactorThread, name: String, settings: GatewaySettings, outbox: Mailbox<MeshOrder>,
        news: Mailbox<MeshNews>
    ) throws {
        self.outbox = outbox
        self.news = news
        self.logger = thread.logger
        self.face = try settings.face.map { endpoint in
            try FaceSocket(
                on: thread, endpoint: try Endpoint(endpoint), maxMessage: settings.limits.messageBytes)
        }
        let identity = LinkIdentity(name: name, protocolVersion: UInt16(EnvelopeWriter.version))
        func add(_ stage: Stage, _ address: PeerAddress, lane: Lane) throws {
            let base = try Endpoint(address.endpoint)
            let endpoint = lane == .previews ? try base.lane("previews") : base
            let link = try PeerLink(on: thread, to: endpoint, identity: identity)
            self.index[Self.key(stage, address.name, lane)] = self.lines.count
            self.lines.append(Line(stage: stage, peer: address.name, lane: lane, link: link))
        }
        for address in settings.coalescers {
            try add(.coalescer, address, lane: .main)
            try add(.coalescer, address, lane: .previews)
        }
        for address in settings.committers { try add(.committer, address, lane: .main) }
        for address in settings.fanouts { try add(.fanout, address, lane: .main) }
    }

    private static func key(_ stage: Stage, _ peer: String, _ lane: Lane) -> String {
        "\(stage.rawValue)\(lane == .previews ? "p" : "m")\(peer)"
    }

    func turn(now: UInt64) -> UInt64? {
        self.sendOutgoing()
        var isMoreToRead = false
        if !self.hasBacklog {
            for line in self.lines.indices { self.readLine(line) }
            if self.face?.receive(into: &self.fresh) == true { isMoreToRead = true }
        }
        if self.hasBacklog, self.news.handOver(&self.fresh) == .full {
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
                self.linkChanged(entry, isUp: true)
            case .down(let loss):
                self.logger.warning("link down", metadata: ["mesh.peer": "\(entry.peer)", "mesh.loss": "\(loss)"])
                self.lines[line].waiting = []
                self.linkChanged(entry, isUp: false)
            case .message:
                self.fresh.append(.envelope(entry.link.incoming.bytes(at: 0)))
            case .writable:
                self.flushWaiting(line)
                if entry.lane == .previews { self.fresh.append(.previewLane(peer: entry.peer, isOpen: true)) }
            }
        }
    }

    private func linkChanged(_ line: Line, isUp: Bool) {
        switch line.lane {
        case .main: self.fresh.append(.link(line.stage, peer: line.peer, isUp: isUp))
        case .previews: self.fresh.append(.previewLane(peer: line.peer, isOpen: isUp))
        }
    }

    // MARK: Sending

    private func sendOutgoing() {
        self.outbox.drain(into: &self.outgoing)
        for order in self.outgoing {
            switch order {
            case .envelope(let envelope):
                guard let line = self.index[Self.key(envelope.stage, envelope.peer, envelope.lane)] else { continue }
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
        if entry.waiting.count < Self.maxWaiting { self.lines[line].waiting.append(bytes) }
    }

    private func flushWaiting(_ line: Int) {
        var sent = 0
        for bytes in self.lines[line].waiting {
            guard self.lines[line].link.send(bytes) == .sent else { break }
            sent += 1
        }
        self.lines[line].waiting.removeFirst(sent)
    }
}
