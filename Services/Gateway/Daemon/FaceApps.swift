import GatewayCore
import JSONBytes
import SocketIO
import SocketIOServer
import Timing
import Trust
import Wire

/// The back ends that speak to the gateway over ZeroMQ: the same namespace, events and acknowledgements as apps over
/// Socket.IO. A peer that was silent for too long counts as gone; `2` is answered with `3` and counts as life, or with `41`
/// if the peer has no session: it may not know, as its socket connects again by itself.
final class FaceApps {
    private var lines: [[UInt8]: FaceLine] = [:]
    private let badMessages: RateMeter
    /// Silence after which a peer counts as gone.
    static let silence = Nanoseconds.seconds(30)
    private static let maxPeers = 1024

    init(badMessages: RateMeter) { self.badMessages = badMessages }

    /// A packet came.
    /// - Parameters:
    ///   - peer: the routing id that the socket generated, so no other connection will ever have it.
    ///   - key: by which the peer proved who it is; nil on a plain socket.
    func received(_ text: [UInt8], from peer: [UInt8], key: PublicKey? = nil, _ hub: GatewayHub) {
        self.lines[peer]?.heardAt = hub.now
        if text == Array("2".utf8) {
            hub.sendFace(Array((self.lines[peer] == nil ? "41" : "3").utf8), to: peer)
            return
        }
        text.withUnsafeBytes { text in
            // The leading 4 is Engine.IO's digit for a message; on this wire every packet is one.
            let bytes = UnsafeRawBufferPointer(rebasing: text.dropFirst())
            guard text.first == UInt8(ascii: "4"), let head = try? SocketPacketHead(bytes, maxAttachments: 0),
                head.namespace.isEmpty
            else {
                self.lines[peer]?.reportBadMessage()
                return
            }
            let payload = UnsafeRawBufferPointer(rebasing: bytes[head.payload...])
            switch head.type {
            case .connect: self.connect(peer, key: key, auth: payload, hub)
            case .disconnect: self.gone(peer, from: hub)
            case .event: self.event(peer, ackID: head.ackID, payload, hub)
            case .ack, .connectError, .binaryEvent, .binaryAck: self.lines[peer]?.reportBadMessage()
            }
        }
    }

    private func connect(_ peer: [UInt8], key: PublicKey?, auth: UnsafeRawBufferPointer, _ hub: GatewayHub) {
        self.gone(peer, from: hub)
        guard self.lines.count < Self.maxPeers else {
            self.refuse(peer, hub, Refusal(.busy, "Too many back ends are connected.", retryAfterMs: 1000))
            return
        }
        // Back ends are on a trusted network, and a refused one has no connection that could be closed.
        var limit: AdmissionLimit?
        let admission = hub.admission.admit(
            auth: auth, query: { _ in nil }, header: { _ in nil }, from: nil, counted: nil, within: &limit,
            by: hub.stage.core.authenticator)
        switch admission {
        case .failure(let refusal):
            self.refuse(peer, hub, refusal)
        case .success((let identity, let handshake)):
            let line = FaceLine(
                heardAt: hub.now, key: key, takesBatches: handshake.batches, badMessages: self.badMessages
            ) { [unowned hub] in hub.sendFace($0, to: peer) }
            self.lines[peer] = line
            let name = JSONWriter.text { $0.member("sid", String(UInt64.random(in: 0...UInt64.max), radix: 36)) }
            hub.sendFace(Array("40".utf8) + name, to: peer)
            line.slot = hub.connected(line, identity: identity, handshake: handshake)
            line.close = { [unowned self, unowned hub] in self.gone(peer, from: hub) }
        }
    }

    private func refuse(_ peer: [UInt8], _ hub: GatewayHub, _ refusal: Refusal) {
        let text = JSONWriter.text { writer in
            writer.member("message", refusal.message)
            writer.object("data", refusal.encodeMembers)
        }
        hub.sendFace(Array("44".utf8) + text, to: peer)
    }

    private func event(_ peer: [UInt8], ackID: UInt64?, _ json: UnsafeRawBufferPointer, _ hub: GatewayHub) {
        guard let line = self.lines[peer] else {
            self.refuse(peer, hub, Refusal(.forbidden, "The connection is not open: send a CONNECT packet (40) first."))
            return
        }
        hub.eventReceived(json, ackID: ackID, from: line.slot)
    }

    /// A peer chose its own routing id, under which a later connection could go on in its name.
    func refuseName(_ peer: [UInt8], _ hub: GatewayHub) {
        let text = "Do not set a routing id: the gateway gives every connection its own."
        self.refuse(peer, hub, Refusal(.invalid, text))
    }

    /// Ends the lines of peers whose keys are not listed any more.
    func endUnlisted(in peers: PeerList, from hub: GatewayHub) {
        for line in self.lines.values {
            guard let key = line.key, !peers.roles(of: key).contains(PeerRoles(.backend)) else { continue }
            line.disconnect()
        }
    }

    /// A peer went away, or could not be reached.
    func gone(_ peer: [UInt8], from hub: GatewayHub) {
        guard let line = self.lines.removeValue(forKey: peer) else { return }
        line.close = nil
        hub.disconnected(line.slot)
    }

    /// Lets go of peers that were silent for too long.
    func dropSilent(from hub: GatewayHub) {
        let now = hub.now
        for line in self.lines.values where now > line.heardAt + Self.silence { line.disconnect() }
    }
}

final class FaceLine: AppLine {
    var slot: Slot = 0
    var heardAt: Instant
    let key: PublicKey?
    let takesBatches: Bool
    var close: (() -> Void)?
    var snapshotSent: ((Identifier) -> Void)?
    var drained: (() -> Void)?
    private let write: ([UInt8]) -> Void
    private var badMessages: RateMeter

    init(
        heardAt: Instant, key: PublicKey?, takesBatches: Bool, badMessages: RateMeter,
        write: @escaping ([UInt8]) -> Void
    ) {
        self.heardAt = heardAt
        self.key = key
        self.takesBatches = takesBatches
        self.badMessages = badMessages
        self.write = write
    }

    func acknowledge(_ id: UInt64, _ json: [UInt8]) {
        self.write(Array("43\(id)[".utf8) + json + [UInt8(ascii: "]")])
    }

    func send(_ snapshot: Snapshot) {
        self.write(Array("43\(snapshot.ackID)".utf8) + snapshot.arguments)
        for part in snapshot.parts { self.emit(part) }
        if !snapshot.parts.isEmpty { self.snapshotSent?(snapshot.room) }
    }

    /// None: the socket drops what a back end does not read.
    var outstandingBytes: Int { 0 }

    func ended() { self.snapshotSent = nil }

    func dropSnapshot(of room: Identifier) {}

    func emit(_ json: [UInt8]) { self.write(Array("42".utf8) + json) }

    func send(_ packet: PreparedPacket, json: [UInt8], step: StreamStep?) {
        self.emit(json)
    }

    func offer(_ packet: PreparedPacket, json: [UInt8]) -> Bool {
        self.emit(json)
        return true
    }

    func send(_ previews: [PreviewText], butOf publisher: Slot?, packet: PreparedPacket) {
        let others = previews.filter { publisher == nil || $0.sender != publisher }
        for json in self.takesBatches ? PreviewText.batches(of: others) : others.map(\.json) { self.emit(json) }
    }

    func dropPreviews(of room: Identifier) {}

    /// Never: the socket drops what a back end does not read.
    var isStuck: Bool { false }

    func isBehind(_ bound: Int) -> Bool { false }

    func disconnect() {
        self.write(Array("41".utf8))
        self.close?()
    }

    func goAway() { self.disconnect() }
    func expel() { self.disconnect() }
    func shed() { self.disconnect() }

    func reportBadMessage() {
        // It was heard just now.
        if !self.badMessages.spend(at: self.heardAt) { self.disconnect() }
    }
}
