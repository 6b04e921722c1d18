import GatewayCore
import JSONBytes
import NIOCore
import SocketIO
import SocketIOServer
import Wire

/// The gateway as an application of the Socket.IO server: apps of the namespace `/`.
final class SocketIOApps: SocketIOApplication {
    private unowned let hub: GatewayHub

    init(hub: GatewayHub) {
        self.hub = hub
    }

    func admit(_ handshake: Handshake) -> HandshakeRefusal? {
        guard self.hub.door.isAddressed(by: handshake.head, from: handshake.remoteAddress) else { return .forbidden }
        return self.hub.door.mayShakeHands() ? nil : .unavailable(retryAfter: 1)
    }

    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) {
        let visitor = socket.engine.userInfo as? Visitor ?? Visitor(self.hub.door.makeLimit())
        guard request.namespace == .root else {
            return Self.refuse(socket, visitor, message: "Invalid namespace")
        }
        let head = request.handshake?.head
        let admission = self.hub.door.admit(
            auth: request.auth, query: { head?.queryValue($0) }, header: { head?.header($0) },
            from: socket.remoteAddress, counted: socket.limitedAddress, within: &visitor.limit,
            by: self.hub.core.authenticator, among: self.hub.core.connections)
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
            if self.hub.core.authenticator.usesTokens { socket.engine.userInfo = visitor }
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
        let line = socket.userInfo as? SocketIOLine
        line?.refuseBinary(json, ackID: ackID)
    }

    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {
        // A socket that was refused never became an app.
        guard socket.userInfo is SocketIOLine else { return }
        socket.userInfo = nil
        self.hub.disconnected(socket.tag)
    }

    func writable(_ socket: SocketIOSocket) {
        (socket.userInfo as? SocketIOLine)?.resume()
    }
}

/// What a connection may still cost at the door; it may send any number of CONNECT packets.
private final class Visitor {
    var limit: DoorLimit?

    init(_ limit: DoorLimit) {
        self.limit = limit
    }
}

extension SocketIOSocket {
    /// Closes the connection of a client that was refused too often (RFC 6455 section 7.4.1: policy violation).
    fileprivate func expel() { self.closeEngine(code: 1008, reason: "too many tokens were refused") }
}

/// One app that speaks Socket.IO.
final class SocketIOLine: AppLine {
    /// It holds this line until it is gone.
    private let socket: SocketIOSocket
    private let eventLoop: any EventLoop
    let takesBatches: Bool
    /// The latest previews of a slow app.
    private var held: LatestPreviews?
    /// Large rooms that it still reads.
    private var snapshots = SnapshotQueue()
    var snapshotRead: ((Identifier) -> Void)?

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
        self.snapshots.append(snapshot)
        self.sendPartsSoon()
    }

    func dropSnapshot(of room: Identifier) {
        self.snapshots.drop(room)
    }

    /// Sends the next parts once everything of this turn was written.
    private func sendPartsSoon() {
        self.eventLoop.assumeIsolated().execute { self.sendParts() }
    }

    /// Sends parts until the app's connection accepts no more; it goes on when that has become writable.
    private func sendParts() {
        while self.socket.isWritable, let next = self.snapshots.next() {
            guard self.socket.bufferedBytes < Self.partsAhead else { return self.sendPartsSoon() }
            switch next {
            case .part(let json): self.socket.send(PreparedPacket(event: json))
            case .read(let room): self.snapshotRead?(room)
            }
            self.snapshots.removeNext()
        }
    }

    /// Bytes that may wait for the app while more parts are sent.
    private static let partsAhead = 256 * 1024

    func emit(_ json: [UInt8]) {
        self.socket.emit(json)
    }

    func send(_ packet: PreparedPacket, json: [UInt8], step: StreamStep?) {
        if let step, self.held != nil { self.held?.remove(step.ended) }
        self.socket.send(packet)
    }

    func send(_ previews: [PreviewText], butOf mover: Slot?, packet: PreparedPacket) {
        if self.held == nil, self.socket.offer(packet) { return }
        var held = self.held ?? LatestPreviews(capacity: 4096)
        self.held = nil
        for text in previews where mover == nil || text.sender != mover {
            for preview in text.previews { held.insert(preview) }
        }
        self.held = held
    }

    func dropPreviews(of room: Identifier) {
        self.held?.removeAll { $0.room == room }
    }

    var isStuck: Bool { !self.socket.isWritable }

    func isBehind(_ bound: Int) -> Bool {
        self.isStuck && self.socket.bufferedBytes > bound
    }

    /// The app takes data again: it gets the latest of what it missed.
    func resume() {
        self.sendParts()
        guard var held = self.held else { return }
        self.held = nil
        let texts = PreviewText.texts(of: held.takeAll()[...]) { _ in nil }
        guard !texts.isEmpty else { return }
        var packets = PreviewPackets(texts)
        self.socket.send(packets.all(inBatches: self.takesBatches))
    }

    func disconnect() {
        self.socket.disconnect()
    }

    func goAway() {
        self.socket.goAway()
    }

    func expel() {
        self.socket.expel()
    }

    func reportBadMessage() {
        self.socket.reportBadPacket()
    }

    /// - Parameter json: the event, valid JSON.
    func refuseBinary(_ json: UnsafeRawBufferPointer, ackID: UInt64?) {
        let refusal = Refusal(.invalid, "Events carry no binary attachments.")
        if let ackID { return self.acknowledge(ackID, refusal.acknowledgementText) }
        var document = JSONDocument()
        _ = try? document.parseWellFormed(Array(json))
        var elements = document.root.elements
        self.emit(refusal.eventText(of: elements.next()?.string ?? ""))
    }
}
