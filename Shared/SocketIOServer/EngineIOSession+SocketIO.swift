internal import NIOCore
internal import SocketIO

extension EngineIOSession {
    /// One Socket.IO text packet.
    func socketIOText(_ text: UnsafeRawBufferPointer) {
        guard self.layer?.assembler == nil else { return self.malformed() }
        let maxAttachments = self.server.configuration.maxAttachments
        let head: SocketPacketHead
        do {
            head = try SocketPacketHead(text, maxAttachments: maxAttachments)
        } catch {
            if error == .badAttachments, maxAttachments == 0 {
                return self.end(.parseError, code: 1003, reason: "binary events are not supported")
            }
            return self.malformed()
        }
        if head.type.isBinary {
            var assembler = PacketAssembler(maxBytes: self.server.configuration.maxBinaryPacket)
            guard (try? assembler.begin(head, text: text)) != nil else { return self.malformed() }
            self.layer?.assembler = assembler
            return
        }
        self.dispatch(head, text, attachments: [])
    }

    /// One binary message: an attachment, or out of place.
    func socketIOBinary(_ bytes: [UInt8]) {
        guard var assembler = self.layer?.assembler else {
            let code: UInt16 = self.server.configuration.maxAttachments == 0 ? 1003 : 1002
            return self.end(.parseError, code: code, reason: "unexpected binary message")
        }
        self.layer?.assembler = nil
        do {
            guard let packet = try assembler.attach(bytes) else {
                self.layer?.assembler = assembler
                return
            }
            packet.text.withUnsafeBytes { text in
                let json = UnsafeRawBufferPointer(rebasing: text[packet.head.payload...])
                guard BinaryPlaceholders.areSound(json, count: packet.attachments.count) else {
                    return self.malformed()
                }
                self.dispatch(packet.head, text, attachments: packet.attachments)
            }
        } catch {
            self.end(.payloadTooBig, code: 1009, reason: "")
        }
    }

    private func dispatch(_ head: SocketPacketHead, _ text: UnsafeRawBufferPointer, attachments: [[UInt8]]) {
        guard let layer = self.layer else { return }
        let name = UnsafeRawBufferPointer(rebasing: text[head.namespace])
        let json = UnsafeRawBufferPointer(rebasing: text[head.payload...])
        if head.type == .connect { return self.connectReceived(name, json) }
        let socket: SocketIOSocket
        if name.isEmpty, let root = layer.root {
            socket = root
        } else {
            switch layer.table.route(name) {
            case .member(let member): socket = member
            case .late:
                self.server.statistics.strayPackets += 1
                return
            case .unknown: return self.malformed()
            }
        }
        switch head.type {
        case .event: layer.application.event(socket, ackID: head.ackID, json: json)
        case .binaryEvent:
            layer.application.binaryEvent(socket, ackID: head.ackID, json: json, attachments: attachments)
        case .ack, .binaryAck:
            guard let id = head.ackID, socket.takeAck(id) else {
                self.server.statistics.strayPackets += 1
                return
            }
            layer.application.acknowledged(socket, id: id, json: json, attachments: attachments)
        case .disconnect: self.leave(socket, .clientNamespace)
        case .connect, .connectError: break
        }
    }

    private func connectReceived(_ name: UnsafeRawBufferPointer, _ auth: UnsafeRawBufferPointer) {
        guard let layer = self.layer, ConnectPayload.isValid(auth) else { return self.malformed() }
        let namespace = Namespace(wire: Array(name)[...])
        let socket = SocketIOSocket(self, namespace)
        switch layer.table.connectReceived(namespace) {
        case .ask:
            self.layer?.table.asked(namespace, socket)
            let request = ConnectRequest(namespace: namespace, auth: auth, handshake: self.handshake)
            layer.application.connect(socket, request)
        case .known:
            self.sendConnectError(namespace, message: "Already connected", data: [])
            self.badPacket()
        case .tooMany:
            self.sendConnectError(namespace, message: "Too many namespaces", data: [])
            self.badPacket()
        }
    }

    /// The client broke Socket.IO.
    private func malformed() {
        self.server.statistics.protocolErrors += 1
        self.end(.parseError, code: 1002, reason: "malformed packet")
    }

    /// Takes a socket out of its namespace and tells the application.
    func leave(_ socket: SocketIOSocket, _ why: DisconnectReason) {
        guard let layer = self.layer else { return }
        if layer.root === socket { self.layer?.root = nil }
        self.layer?.table.removed(socket.namespace, byServer: why == .serverNamespace)
        socket.ended(why, layer.application)
    }

    func joined(_ socket: SocketIOSocket) {
        self.machine.connected()
        self.layer?.table.accepted(socket.namespace)
        if socket.namespace.isRoot { self.layer?.root = socket }
    }

    func refused(_ socket: SocketIOSocket) {
        self.layer?.table.removed(socket.namespace, byServer: false)
    }

    /// `40{"sid":…}` with what the application adds.
    func sendConnected(_ socket: SocketIOSocket, members: some Collection<UInt8>) {
        let prefix = socket.namespace.wirePrefix
        let sid = socket.idText
        let length = 2 + prefix.count + 8 + sid.count + 1 + (members.isEmpty ? 0 : 1 + members.count) + 1
        self.sendText(length: length) { buffer in
            buffer.writeSocketHead(.connect, prefix)
            buffer.writeString(#"{"sid":""#)
            buffer.writeBytes(sid)
            buffer.writeInteger(UInt8(ascii: "\""))
            if !members.isEmpty {
                buffer.writeInteger(UInt8(ascii: ","))
                buffer.writeBytes(members)
            }
            buffer.writeInteger(UInt8(ascii: "}"))
        }
    }

    /// `44{"message":…}`, with raw JSON `data` if there is any.
    func sendConnectError(_ namespace: Namespace, message: String, data: [UInt8]) {
        let prefix = namespace.wirePrefix
        let body = ConnectError.body(message: message, data: data)
        self.sendText(length: 2 + prefix.count + body.count) { buffer in
            buffer.writeSocketHead(.connectError, prefix)
            buffer.writeBytes(body)
        }
    }

    /// `41`.
    func sendDisconnect(_ namespace: Namespace) {
        let prefix = namespace.wirePrefix
        self.sendText(length: 2 + prefix.count) { $0.writeSocketHead(.disconnect, prefix) }
    }

    /// An event or ack with raw JSON, and its attachments right behind it.
    func sendPacket(
        _ type: SocketPacketType, _ namespace: Namespace, ackID: UInt64?, json: some Collection<UInt8>,
        attachments: [[UInt8]]
    ) {
        self.server.statistics.packetsOut += 1
        let prefix = namespace.wirePrefix
        let count = UInt64(attachments.count)
        let isBinary = !attachments.isEmpty
        let length =
            2 + (isBinary ? decimalLength(count) + 1 : 0) + prefix.count + (ackID.map(decimalLength) ?? 0) + json.count
        let wireType: SocketPacketType = isBinary ? (type == .ack ? .binaryAck : .binaryEvent) : type
        self.sendText(length: length) { buffer in
            if isBinary {
                buffer.writeSocketHead(wireType, [])
                buffer.writeDecimal(count)
                buffer.writeInteger(UInt8(ascii: "-"))
                buffer.writeBytes(prefix)
            } else {
                buffer.writeSocketHead(wireType, prefix)
            }
            if let ackID { buffer.writeDecimal(ackID) }
            buffer.writeBytes(json)
        }
        for attachment in attachments { self.send(binary: attachment) }
    }
}

extension ByteBuffer {
    /// `4`, the packet type and the namespace prefix.
    mutating func writeSocketHead(_ type: SocketPacketType, _ prefix: [UInt8]) {
        self.writeInteger(UInt16(EnginePacketType.message.rawValue) << 8 | UInt16(type.rawValue))
        if !prefix.isEmpty { self.writeBytes(prefix) }
    }
}
