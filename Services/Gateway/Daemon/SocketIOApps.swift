import GatewayCore
import JSONBytes
import NIOCore
import SocketIO
import SocketIOServer
import Wire

/// The gateway as an application of the Socket.IO server: apps of the namespace `/`.
final class SocketIOApps: SocketIOApplication {
    private unowned let hub: GatewayHub

    init(hub: GatewayHub) { self.hub = hub }

    func admit(_ handshake: Handshake) -> HandshakeRefusal? {
        guard self.hub.admission.isAddressed(by: handshake.head, from: handshake.remoteAddress) else {
            return .forbidden(GatewayAdmission.wrongName)
        }
        return self.hub.admission.mayShakeHands() ? nil : .unavailable(retryAfter: 1)
    }

    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) {
        let visitor = socket.engine.userInfo as? Visitor ?? Visitor(self.hub.admission.makeLimit())
        guard request.namespace == .root else {
            return Self.refuse(socket, visitor, message: "Invalid namespace")
        }
        let head = request.handshake?.head
        let admission = self.hub.admission.admit(
            auth: request.auth, query: { head?.queryValue($0) }, header: { head?.header($0) },
            from: socket.remoteAddress, counted: socket.limitedAddress, within: &visitor.limit,
            by: self.hub.shell.core.authenticator, among: self.hub.shell.core.relay.connections)
        switch admission {
        case .failure(let refusal):
            var data = JSONWriter(reserving: 96)
            refusal.encode(into: &data)
            Self.refuse(socket, visitor, message: refusal.message, data: data.bytes)
        case .success((let identity, let handshake)):
            socket.accept()
            let line = SocketIOLine(socket, on: self.hub.eventLoop, takesBatches: handshake.batches)
            socket.userInfo = line
            socket.tag = self.hub.connected(line, identity: identity, handshake: handshake)
            socket.releaseHandshake()
            // Without tokens a CONNECT that is accepted costs nothing that must be remembered.
            if self.hub.shell.core.authenticator.usesTokens { socket.engine.userInfo = visitor }
        }
    }

    private static func refuse(_ socket: SocketIOSocket, _ visitor: Visitor, message: String, data: [UInt8] = []) {
        socket.engine.userInfo = visitor
        socket.refuse(message: message, data: data)
        if visitor.limit?.refused() == true { socket.expel() }
    }

    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        self.hub.eventReceived(json, ackID: ackID, from: socket.tag)
    }

    func binaryRefused(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        self.hub.eventReceived(json, ackID: ackID, from: socket.tag, isBinary: true)
    }

    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {
        // A socket that was refused never became an app.
        guard socket.userInfo is SocketIOLine else { return }
        socket.userInfo = nil
        self.hub.disconnected(socket.tag)
    }

    func writable(_ socket: SocketIOSocket) {
        guard let line = socket.userInfo as? SocketIOLine else { return }
        line.resume()
        line.drained?()
    }

    func heldBytes(of socket: SocketIOSocket) -> Int {
        guard let line = socket.userInfo as? SocketIOLine else { return 0 }
        return line.heldBytes + self.hub.shell.core.relay.heldBytes(for: socket.tag)
    }

    func owner(of socket: SocketIOSocket) -> String? {
        guard socket.userInfo is SocketIOLine else { return nil }
        return self.hub.shell.core.relay.connections.user(in: socket.tag)?.text
    }
}

/// What a connection may still cost at admission; it may send any number of CONNECT packets.
private final class Visitor {
    var limit: AdmissionLimit?

    init(_ limit: AdmissionLimit) { self.limit = limit }
}

extension SocketIOSocket {
    /// Closes the connection of a client that was refused too often (RFC 6455 section 7.4.1: policy violation).
    fileprivate func expel() { self.closeEngine(code: 1008, reason: "too many tokens were refused") }
}

final class SocketIOLine: AppLine {
    /// It holds this line until it is gone.
    private let socket: SocketIOSocket
    private let eventLoop: any EventLoop
    let takesBatches: Bool
    private var held = HeldPreviews()
    /// Large rooms of which parts wait for it.
    private var snapshots = SnapshotQueue()
    /// Whose turn is next when both wait.
    private var isTurnOfPreviews = true
    private var isSendingSoon = false
    var snapshotSent: ((Identifier) -> Void)?
    var drained: (() -> Void)?

    init(_ socket: SocketIOSocket, on eventLoop: any EventLoop, takesBatches: Bool) {
        self.socket = socket
        self.eventLoop = eventLoop
        self.takesBatches = takesBatches
    }

    func acknowledge(_ id: UInt64, _ json: [UInt8]) {
        var arguments: [UInt8] = []
        arguments.reserveCapacity(json.count + 2)
        arguments.append(UInt8(ascii: "["))
        arguments.append(contentsOf: json)
        arguments.append(UInt8(ascii: "]"))
        self.socket.acknowledge(id, arguments)
    }

    func send(_ snapshot: Snapshot) {
        self.socket.acknowledge(snapshot.ackID, snapshot.arguments, isBounded: false)
        guard !snapshot.parts.isEmpty else { return }
        self.snapshots.append(snapshot)
        self.sendSoon()
    }

    var outstandingBytes: Int { self.snapshots.bytes + self.socket.outstandingBytes }

    func ended() {
        self.snapshotSent = nil
        self.drained = nil
        self.snapshots = SnapshotQueue()
    }

    func shed() { self.socket.shed() }
    func dropSnapshot(of room: Identifier) { self.snapshots.drop(room) }

    // MARK: What waits

    /// Sends what waits once everything of this turn was written.
    private func sendSoon() {
        guard !self.isSendingSoon else { return }
        self.isSendingSoon = true
        self.eventLoop.assumeIsolated().execute {
            self.isSendingSoon = false
            self.resume()
        }
    }

    /// Sends parts of large rooms and of the previews that wait, by turns, until the app's connection accepts no more;
    /// it goes on when that has become writable.
    func resume() {
        guard self.socket.isWritable else { return }
        var waiting = self.held.takeLongestWaiting()
        defer { self.held.add(waiting) }
        while self.socket.isWritable, !waiting.isEmpty || !self.snapshots.isEmpty {
            guard self.socket.bufferedBytes < self.bytesAhead else { return self.sendSoon() }
            if !waiting.isEmpty, self.isTurnOfPreviews || self.snapshots.isEmpty {
                self.sendPart(of: &waiting)
            } else {
                self.sendPartOfRoom()
            }
            self.isTurnOfPreviews.toggle()
        }
    }

    private func sendPartOfRoom() {
        switch self.snapshots.next() {
        case .part(let json): self.socket.send(PreparedPacket(event: json))
        case .sent(let room): self.snapshotSent?(room)
        case nil: return
        }
        self.snapshots.removeNext()
    }

    /// Sends the first of the previews that waited. There is space for them: only a selection may be so long that there
    /// never is, where little may wait for an app, and is lost.
    private func sendPart(of waiting: inout RoomShow) {
        var packets = PreviewPackets(PreviewText.takeTexts(from: &waiting, bytes: self.bytesAhead / 4))
        _ = self.socket.offer(packets.all(inBatches: self.takesBatches))
    }

    /// Bytes that may wait for the app while more is sent: so few that there is space for the next part of previews.
    private var bytesAhead: Int { min(Self.mostBytesAhead, self.socket.maxBufferedBytes / 4) }
    private static let mostBytesAhead = 256 * 1024

    // MARK: Events

    func emit(_ json: [UInt8]) { self.socket.emit(json) }

    func send(_ packet: PreparedPacket, step: StreamStep?) {
        if let step, !self.held.isEmpty { self.held.remove(step.ended) }
        self.socket.send(packet)
    }

    func offer(_ packet: PreparedPacket) -> Bool { self.socket.offer(packet) }

    func send(_ previews: [PreviewText], butOf publisher: Slot?, packet: PreparedPacket) {
        if self.held.isEmpty, self.socket.offer(packet) { return }
        self.held.add(previews, butOf: publisher)
        // It takes previews, but not as many at once.
        if self.socket.isWritable { self.sendSoon() }
    }

    func dropPreviews(of room: Identifier) { self.held.drop(room) }

    /// About the bytes of the previews that wait. Large rooms have a bound of their own for all apps.
    var heldBytes: Int { self.held.bytes }

    var isStuck: Bool { !self.socket.isWritable }

    func isBehind(_ bound: Int) -> Bool {
        self.isStuck && self.socket.bufferedBytes > bound
    }

    func disconnect() { self.socket.disconnect() }
    func goAway() { self.socket.goAway() }
    func expel() { self.socket.expel() }
    func reportBadMessage() { self.socket.reportBadPacket() }
}
