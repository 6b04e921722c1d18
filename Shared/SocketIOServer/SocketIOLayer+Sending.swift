internal import NIOCore
internal import SocketIO

/// Packets to the client, encoded straight into the output of its connection.
extension SocketIOLayer {
    /// `40{"sid":…}` with the application's additional members.
    func sendConnected(_ socket: SocketIOSocket, members: some Collection<UInt8>) {
        let prefix = socket.namespace.wirePrefix
        let sid = socket.idText
        let length = 2 + prefix.count + 8 + sid.count + 1 + (members.isEmpty ? 0 : 1 + members.count) + 1
        self.session.sendText(length: length) { buffer in
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
        let body = ConnectPayload.refusal(message: message, data: data)
        self.session.sendText(length: 2 + prefix.count + body.count) { buffer in
            buffer.writeSocketHead(.connectError, prefix)
            buffer.writeBytes(body)
        }
    }

    /// `41`.
    func sendDisconnect(_ namespace: Namespace) {
        let prefix = namespace.wirePrefix
        self.session.sendText(length: 2 + prefix.count) { $0.writeSocketHead(.disconnect, prefix) }
    }

    /// An event or ack with raw JSON, immediately followed by its attachments.
    func sendPacket(
        _ type: SocketPacketType, _ namespace: Namespace, ackID: UInt64?, json: some Collection<UInt8>,
        attachments: [[UInt8]]
    ) {
        self.session.loop.statistics.packetsOut += 1
        let prefix = namespace.wirePrefix
        let count = UInt64(attachments.count)
        let isBinary = !attachments.isEmpty
        let length =
            2 + (isBinary ? decimalLength(count) + 1 : 0) + prefix.count + (ackID.map(decimalLength) ?? 0) + json.count
        let wireType: SocketPacketType = isBinary ? (type == .ack ? .binaryAck : .binaryEvent) : type
        self.session.sendText(length: length) { buffer in
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
        for attachment in attachments { self.session.send(binary: attachment) }
    }
}

extension ByteBuffer {
    /// `4`, the packet type and the namespace prefix.
    mutating func writeSocketHead(_ type: SocketPacketType, _ prefix: [UInt8]) {
        self.writeInteger(UInt16(EnginePacketType.message.rawValue) << 8 | UInt16(type.rawValue))
        if !prefix.isEmpty { self.writeBytes(prefix) }
    }
}
