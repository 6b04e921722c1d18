import SocketIO

/// The input in pieces, as a network would deliver it; its first byte is their size.
private func pieces(_ input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let first = input.first else { return }
    let size = max(1, Int(first))
    var start = 1
    while start < input.count {
        let end = min(start + size, input.count)
        body(UnsafeRawBufferPointer(rebasing: input[start..<end]))
        start = end
    }
}

/// WebSocket frames: limits hold, text is UTF-8, every byte is used.
@Sendable func fuzzWebSocket(_ input: UnsafeRawBufferPointer) {
    var decoder = WebSocketDecoder(limits: WebSocketLimits(maxMessage: 4096))
    var payload: [UInt8] = []
    pieces(input) { piece in
        var offset = 0
        while let event = decoder.next(piece, at: &offset, payload: &payload) {
            precondition(payload.count <= 4096, "beyond the limit")
            if event == .text {
                precondition(payload.withUnsafeBytes { UTF8Validator.isValid($0) }, "text that is none")
            }
        }
        precondition(offset == piece.count, "input left over")
    }
}

/// What a proxy sends before a connection's first request: nothing behind the header is consumed, whatever the pieces.
/// The same bytes as the text of an address and of a range, which contains its own address.
@Sendable func fuzzProxy(_ input: UnsafeRawBufferPointer) {
    var whole = ProxyHeaderReader()
    var end = 0
    let outcome = whole.next(input, at: &end)
    precondition(end <= input.count && (outcome != .incomplete || end == input.count), "input left over")
    var inPieces = ProxyHeaderReader()
    var consumed = 0
    var last = ProxyHeaderReader.Outcome.incomplete
    for byte in input where last == .incomplete {
        var offset = 0
        last = withUnsafeBytes(of: byte) { inPieces.next($0, at: &offset) }
        consumed += offset
    }
    precondition(last == outcome && consumed == end, "pieces change what is read")
    let text = String(decoding: input, as: UTF8.self)
    _ = AddressRange(text)
    if let address = IPAddress(text) { precondition(AddressRange(text)?.contains(address) == true, "not in its range") }
}

/// HTTP requests, and what is made of their heads.
@Sendable func fuzzHTTP(_ input: UnsafeRawBufferPointer) {
    var parser = HTTPRequestParser(limits: HTTPLimits())
    var bodyCount = 0
    pieces(input) { piece in
        var offset = 0
        while let event = parser.next(piece, at: &offset) {
            switch event {
            case .head(let head):
                if let sid = head.queryValueBytes("sid"), let id = SessionID(sid) {
                    precondition(id.text == sid, "another id")
                }
                for source in TrustedProxies.Source.allCases {
                    let proxies = TrustedProxies([AddressRange("10.0.0.0/8")].compactMap(\.self), source: source)
                    let client = proxies.client(of: head)
                    precondition(client.map { [4, 16].contains($0.bytes.count) } ?? true, "no address")
                }
                _ = WebSocketHandshake.answer(to: head)
                _ = OriginPolicy.own(and: []).judge(head)
                if let origin = head.header("origin"), let parsed = try? WebOrigin(parsing: origin) {
                    precondition((try? WebOrigin(parsing: parsed.text)) == parsed, "normalised twice")
                }
                parser.acceptBody(limit: 1000)
                bodyCount = 0
            case .part(let range):
                bodyCount += range.count
                precondition(!range.isEmpty && range.upperBound == offset && bodyCount <= 1000, "no part of a body")
            case .end, .failure: break
            }
        }
    }
}

/// Bodies of polling requests: pieces change nothing.
@Sendable func fuzzPayload(_ input: UnsafeRawBufferPointer) {
    guard input.count > 1 else { return }
    var (whole, inPieces) = (PayloadLog(), PayloadLog())
    whole.read(UnsafeRawBufferPointer(rebasing: input[1...]))
    pieces(input) { inPieces.read($0) }
    whole.end()
    inPieces.end()
    precondition(whole.packets == inPieces.packets && whole.contents == inPieces.contents, "pieces change what is read")
    precondition(whole.error == inPieces.error, "pieces change what is refused")
}

/// What was read of a polling body.
private struct PayloadLog {
    private var reader = EnginePayloadReader(maxPackets: 100, maxPacket: 64)
    private(set) var packets: [EnginePacket] = []
    private(set) var contents: [[UInt8]] = []
    private(set) var error: EnginePayloadError?

    mutating func read(_ input: UnsafeRawBufferPointer) {
        var offset = 0
        while self.error == nil,
            self.take({ reader throws(EnginePayloadError) in try reader.next(input, at: &offset) })
        {}
        precondition(self.reader.heldBytes <= 64, "beyond the limit")
    }

    mutating func end() {
        if self.error == nil { _ = self.take { reader throws(EnginePayloadError) in try reader.last() } }
    }

    private mutating func take(_ next: (inout EnginePayloadReader) throws(EnginePayloadError) -> EnginePacket?) -> Bool
    {
        do throws(EnginePayloadError) {
            guard let packet = try next(&self.reader) else { return false }
            var content: [UInt8] = []
            self.reader.withContent { content = Array($0) }
            self.packets.append(packet)
            self.contents.append(content)
            return true
        } catch {
            self.error = error
            return false
        }
    }
}

/// Socket.IO packets.
@Sendable func fuzzPacket(_ input: UnsafeRawBufferPointer) {
    guard let head = try? SocketPacketHead(input, maxAttachments: 10) else { return }
    let json = UnsafeRawBufferPointer(rebasing: input[head.payload...])
    _ = Namespace(wire: Array(input[head.namespace])[...])
    _ = ConnectPayload.isValid(json)
    _ = BinaryPlaceholders.areSound(json, count: head.attachments)
    var packet = BinaryPacket(head, text: input, maxBytes: 1000)
    for _ in 0..<head.attachments { _ = packet.attach([1, 2, 3]) }
}

/// Any order of events in an Engine.IO session; each byte is an event and the time before it.
@Sendable func fuzzEngine(_ input: UnsafeRawBufferPointer) {
    let timings = EngineTimings(
        pingInterval: 50, pingTimeout: 20, upgradeTimeout: 30, connect: .init(request: 40, acceptance: 60))
    var machine = EngineMachine(transport: .polling, timings: timings, at: 0)
    var now: UInt64 = 0
    for byte in input {
        now += UInt64(byte >> 4)
        switch byte & 15 {
        case 0: _ = machine.pollReceived(hasPackets: false)
        case 1: _ = machine.pollReceived(hasPackets: true)
        case 2: machine.pollAnswered()
        case 3: _ = machine.postReceived(at: now)
        case 4: machine.postEnded()
        case 5: _ = machine.webSocketArrived(at: now)
        case 6: _ = Array("2probe".utf8).withUnsafeBytes { machine.candidateReceived($0, at: now) }
        case 7: _ = Array("5".utf8).withUnsafeBytes { machine.candidateReceived($0, at: now) }
        case 8: machine.candidateLost(at: now)
        case 9: _ = machine.packetReceived(.pong, at: now)
        case 10: machine.connected()
        case 11: _ = machine.closeRequested(at: now)
        case 12: machine.closeReceived(at: now)
        default: _ = machine.timeReached(now)
        }
    }
    machine.ended()
    precondition(machine.nextDeadline == .max, "a closed session asks for time")
}
