import JSONBytes
import SocketIO

/// Out of a client's masked frame: WebSocket, Engine.IO and the head of the Socket.IO packet.
struct DecodeFrame: Operation {
    static let name = "decode-frame"

    private let frame = maskedFrame(Array("42".utf8) + Sample.previewEvent)
    private var decoder = WebSocketDecoder(limits: WebSocketLimits(maxMessage: 256 * 1024))
    private var payload: [UInt8] = []

    init() {}

    mutating func turn() -> Bool {
        self.frame.withUnsafeBytes { input in
            var offset = 0
            guard self.decoder.next(input, at: &offset, payload: &self.payload) == .text else { return false }
            return self.payload.withUnsafeBytes { text in
                guard let first = text.first, EnginePacketType(rawValue: first) == .message else { return false }
                let packet = UnsafeRawBufferPointer(rebasing: text[1...])
                guard let head = try? SocketPacketHead(packet, maxAttachments: 0) else { return false }
                return head.type == .event && packet.count - head.payload == Sample.previewEvent.count
            }
        }
    }

    private static func maskedFrame(_ text: [UInt8]) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        let length = [UInt8(truncatingIfNeeded: text.count >> 8), UInt8(truncatingIfNeeded: text.count)]
        return [0x81, 0x80 | 126] + length + mask + text.enumerated().map { $1 ^ mask[$0 & 3] }
    }
}

/// An event's JSON, checked completely, and two of its fields.
struct ScanPreview: Operation {
    static let name = "scan-preview"

    private var document = JSONDocument()

    init() {}

    mutating func turn() -> Bool {
        guard (try? self.document.parse(Sample.previewEvent)) != nil else { return false }
        var arguments = self.document.root.elements.makeIterator()
        guard arguments.next()?.kind == .string, let payload = arguments.next() else { return false }
        return payload["positionX"]?.double == 812 && payload["transform"]?["rotation"]?.double != nil
    }
}
