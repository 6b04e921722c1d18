internal import NIOCore
internal import SocketIO
internal import Timing

/// Socket.IO on top of one Engine.IO session: its namespaces, packets with attachments, and malformed packets.
final class SocketIOLayer: EngineIOApplication {
    let application: any SocketIOApplication
    unowned let session: EngineIOSession
    private var namespaces: NamespaceTable<SocketIOSocket>
    /// The joined main namespace, to which nearly every packet belongs.
    private var root: SocketIOSocket?
    /// The packet whose attachments are coming.
    private var pending: BinaryPacket?
    private var badPackets: RateMeter
    /// Attachments of a refused packet that are still to come.
    private var ignoredAttachments = 0

    init(_ session: EngineIOSession, _ application: any SocketIOApplication) {
        self.session = session
        self.application = application
        self.namespaces = NamespaceTable(limit: session.loop.configuration.maxNamespaces)
        self.badPackets = RateMeter(perMinute: session.loop.configuration.badPacketBudget)
    }

    var heldBytes: Int { self.namespaces.sum { self.application.heldBytes(of: $0) } }

    var owner: String? {
        self.namespaces.members.lazy.compactMap { self.application.owner(of: $0) }.first
    }

    // MARK: Packets

    func text(_ session: EngineIOSession, _ text: UnsafeRawBufferPointer) {
        guard self.pending == nil, self.ignoredAttachments == 0 else { return self.malformed() }
        let configuration = self.session.loop.configuration
        let head: SocketPacketHead
        do {
            head = try SocketPacketHead(text, maxAttachments: configuration.maxAttachments)
        } catch {
            if error == .badAttachments, configuration.maxAttachments == 0 {
                return self.session.end(.binaryNotSupported)
            }
            return self.malformed()
        }
        guard head.type.isBinary else { return self.dispatch(head, text, attachments: []) }
        guard self.application.acceptsBinary else { return self.refuseBinary(head, text) }
        self.pending = BinaryPacket(head, text: text, maxBytes: configuration.maxBinaryPacket)
    }

    /// The application takes no binary packets: their attachments are ignored as they come.
    private func refuseBinary(_ head: SocketPacketHead, _ text: UnsafeRawBufferPointer) {
        self.ignoredAttachments = head.attachments
        guard head.type == .binaryEvent else { return self.badPacketReceived() }
        guard let socket = self.socket(named: UnsafeRawBufferPointer(rebasing: text[head.namespace])) else { return }
        self.application.binaryRefused(
            socket, ackID: head.ackID, json: UnsafeRawBufferPointer(rebasing: text[head.payload...]))
    }

    /// Processes one binary message: an attachment, or a protocol error.
    func binary(_ session: EngineIOSession, _ binary: [UInt8]) {
        guard self.ignoredAttachments == 0 else {
            self.ignoredAttachments -= 1
            return
        }
        guard var packet = self.pending else {
            let takesNone = !self.application.acceptsBinary || self.session.loop.configuration.maxAttachments == 0
            let code: UInt16 = takesNone ? 1003 : 1002
            return self.session.end(.unexpectedBinary(code: code))
        }
        self.pending = nil
        guard packet.attach(binary) else { return self.session.end(.payloadTooBig) }
        guard packet.isComplete else {
            self.pending = packet
            return
        }
        packet.text.withUnsafeBytes { text in
            let json = UnsafeRawBufferPointer(rebasing: text[packet.head.payload...])
            guard BinaryPlaceholders.areSound(json, count: packet.attachments.count) else { return self.malformed() }
            self.dispatch(packet.head, text, attachments: packet.attachments)
        }
    }

    private func dispatch(_ head: SocketPacketHead, _ text: UnsafeRawBufferPointer, attachments: [[UInt8]]) {
        let name = UnsafeRawBufferPointer(rebasing: text[head.namespace])
        let json = UnsafeRawBufferPointer(rebasing: text[head.payload...])
        if head.type == .connect { return self.connectReceived(name, json) }
        guard let socket = self.socket(named: name) else { return }
        switch head.type {
        case .event: self.application.event(socket, ackID: head.ackID, json: json)
        case .binaryEvent:
            self.application.binaryEvent(socket, ackID: head.ackID, json: json, attachments: attachments)
        // The server asks for none.
        case .ack, .binaryAck: self.session.loop.statistics.strayPackets += 1
        case .disconnect: self.leave(socket, .clientNamespace)
        case .connect, .connectError: break
        }
    }

    /// The joined socket of a packet; `nil` if there is none, which is counted or ends the session.
    private func socket(named name: UnsafeRawBufferPointer) -> SocketIOSocket? {
        if name.isEmpty, let root { return root }
        switch self.namespaces.route(name) {
        case .member(let member): return member
        case .late: self.session.loop.statistics.strayPackets += 1
        case .unknown: self.malformed()
        }
        return nil
    }

    private func connectReceived(_ name: UnsafeRawBufferPointer, _ auth: UnsafeRawBufferPointer) {
        self.session.namespaceRequested()
        let namespace = Namespace(wire: Array(name)[...])
        guard auth.count <= self.session.loop.configuration.maxAuthPayload else {
            self.sendConnectError(namespace, message: "The auth payload is too large", data: [])
            return self.badPacketReceived()
        }
        guard ConnectPayload.isValid(auth) else { return self.malformed() }
        let socket = SocketIOSocket(self.session, namespace)
        switch self.namespaces.connectReceived(namespace) {
        case .ask:
            self.namespaces.asked(namespace, socket)
            let request = ConnectRequest(namespace: namespace, auth: auth, handshake: self.session.handshake)
            self.application.connect(socket, request)
        case .known:
            self.sendConnectError(namespace, message: "Already connected", data: [])
            self.badPacketReceived()
        case .tooMany:
            self.sendConnectError(namespace, message: "Too many namespaces", data: [])
            self.badPacketReceived()
        }
    }

    private func malformed() {
        self.session.loop.statistics.protocolErrors += 1
        self.session.end(.malformedPacket)
    }

    /// Counts a packet that a well-behaved client would not send.
    func badPacketReceived() {
        guard !self.session.isClosed else { return }
        let loop = self.session.loop
        loop.statistics.badPackets += 1
        if !self.badPackets.spend(at: Instant(nanoseconds: loop.now)) { self.session.end(.tooManyBadPackets) }
    }

    // MARK: Namespaces

    func joined(_ socket: SocketIOSocket) {
        self.session.namespaceJoined()
        self.namespaces.accepted(socket.namespace)
        if socket.namespace.isRoot { self.root = socket }
    }

    func refused(_ socket: SocketIOSocket) { self.namespaces.removed(socket.namespace, byServer: false) }

    func leave(_ socket: SocketIOSocket, _ why: DisconnectReason) {
        if self.root === socket { self.root = nil }
        self.namespaces.removed(socket.namespace, byServer: why == .serverNamespace)
        socket.end(why, self.application)
    }

    func closed(_ session: EngineIOSession, reason: DisconnectReason) {
        self.root = nil
        for socket in self.namespaces.removeAll() { socket.end(reason, self.application) }
    }

    func becameWritable() {
        for socket in self.namespaces.members where socket.isConnected { self.application.writable(socket) }
    }
}
