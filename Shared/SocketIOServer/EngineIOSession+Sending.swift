internal import NIOCore
internal import SocketIO

extension EngineIOSession {
    /// Sends a text message.
    public func send(text: UnsafeRawBufferPointer) {
        self.sendText(length: 1 + text.count) { buffer in
            buffer.writeInteger(EnginePacketType.message.rawValue)
            buffer.writeBytes(text)
        }
    }

    /// Sends a binary message.
    public func send(binary: [UInt8]) {
        guard !self.machine.isClosed else { return }
        if let peer = self.peer {
            binary.withUnsafeBytes { peer.sendFrame(.binary, $0) }
        } else {
            self.link?.append(.binary(binary))
            self.markDirty()
        }
        self.enforceBound()
    }

    /// Bytes that wait for this client: not accepted by the kernel, or not fetched by a poll.
    public var bufferedBytes: Int { self.peer?.bufferedBytes ?? self.link?.byteCount ?? 0 }

    /// Whether little enough waits.
    public var isWritable: Bool { self.peer?.isWritable ?? (!self.isFull && !self.isClosed) }

    /// Closes the session: a WebSocket with `code`, polling with a close packet.
    public func close(code: UInt16 = 1000, reason: StaticString = "") {
        self.end(.closedByServer(code), code: code, reason: reason)
    }

    func send(_ packet: PreparedPacket) {
        guard !self.machine.isClosed else { return }
        if let peer = self.peer {
            peer.writeWithTurn(packet.frames)
        } else {
            for range in packet.packets { self.link?.append(.prepared(packet, range)) }
            self.markDirty()
        }
        self.enforceBound()
    }

    /// Sends a packet unless the session is not writable; false when it was not sent.
    func offer(_ packet: PreparedPacket) -> Bool {
        guard self.isWritable else { return false }
        if let peer = self.peer, !self.machine.isClosed {
            // What a writable channel takes is far below the bound.
            peer.write(packet.frames)
        } else {
            self.send(packet)
        }
        return true
    }

    /// Sends one text packet of exactly `length` bytes, written by `body`.
    func sendText(length: Int, _ body: (inout ByteBuffer) -> Void) {
        guard !self.machine.isClosed else { return }
        if let peer = self.peer {
            peer.encode { outbox in
                outbox.writeFrameHeader(.text, length)
                let start = outbox.writerIndex
                body(&outbox)
                assert(outbox.writerIndex - start == length, "the frame header announced another length")
            }
        } else {
            var buffer = ByteBufferAllocator().buffer(capacity: length)
            body(&buffer)
            self.link?.append(.text(buffer))
            self.markDirty()
        }
        self.enforceBound()
    }

    func sendControl(_ type: EnginePacketType) {
        self.sendText(length: 1) { _ = $0.writeInteger(type.rawValue) }
    }

    func sendOpen() {
        let payload = self.server.openPayload(self.id, .webSocket)
        self.sendText(length: 1 + payload.count) { buffer in
            buffer.writeInteger(EnginePacketType.open.rawValue)
            buffer.writeBytes(payload)
        }
    }

    func enforceBound() {
        let isFull: Bool
        if let peer = self.peer {
            if peer.isWritable { return }
            isFull = peer.bufferedBytes > self.server.configuration.maxBufferedBytes
        } else {
            let waiting = self.link?.byteCount ?? 0
            if waiting >= self.server.configuration.writeHighWater { self.isFull = true }
            isFull = waiting > self.server.configuration.maxBufferedBytes
        }
        // Ended at the next flush: the application may be in the middle of sending to many.
        guard isFull, !self.isDoomed else { return }
        self.isDoomed = true
        self.server.doomed.append(self)
        self.server.scheduleFlush()
    }

    func becameWritable() {
        self.isFull = false
        guard !self.isClosed, let layer = self.layer else { return }
        for socket in layer.table.members where socket.isConnected { layer.application.writable(socket) }
    }

    func markDirty() {
        guard !self.isDirty else { return }
        self.isDirty = true
        self.server.dirtySessions.append(self)
        self.server.scheduleFlush()
    }
}
