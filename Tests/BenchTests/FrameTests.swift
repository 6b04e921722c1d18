import SocketIO
import Testing

@testable import bench

@Suite struct FrameTests {
    /// The messages in a server's bytes that come in pieces; nil for what is no WebSocket.
    static func split(_ pieces: ArraySlice<UInt8>...) -> [[UInt8]]? {
        var frames = ServerFrames()
        var messages: [[UInt8]] = []
        for piece in pieces {
            let isSound = Array(piece).withUnsafeBytes { raw in frames.feed(raw) { messages.append(Array($1)) } }
            if !isSound { return nil }
        }
        return messages
    }

    @Test func messagesComeOutWholeHoweverTheBytesAreCut() {
        let messages = [0, 1, 125, 126, 65_535, 65_536].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        }
        var bytes: [UInt8] = []
        for message in messages {
            WebSocketFrame.withHeader(.text, payloadLength: message.count) { bytes += $0 }
            bytes += message
        }
        #expect(Self.split(bytes[...]) == messages)
        for cut in Array(0..<300) + Array(stride(from: 300, to: bytes.count, by: 4099)) {
            #expect(
                Self.split(bytes[..<cut], bytes[cut..<(cut + bytes.count) / 2], bytes[((cut + bytes.count) / 2)...])
                    == messages)
        }
    }

    @Test(arguments: [
        [0x83, 0] as [UInt8], [0x81, 0x80, 0, 0, 0, 0], [0x81, 127, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0],
        [0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x01, 1, 0x34], [0x80, 1, 0x34],
    ])
    func unknownOpcodesMasksMonstrousLengthsAndFragmentsAreRefused(bytes: [UInt8]) {
        #expect(Self.split(bytes[...]) == nil)
    }

    @Test(arguments: [0, 1, 5, 125, 126, 65_535, 65_536])
    func aServersDecoderReadsClientFrames(count: Int) {
        let payload = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        var output: [UInt8] = []
        for _ in 0..<2 { payload.withUnsafeBytes { ClientFrame.append(.text, $0, to: &output) } }
        // The decoder refuses frames without a mask.
        var decoder = WebSocketDecoder(limits: WebSocketLimits(maxMessage: 1 << 20))
        output.withUnsafeBytes { bytes in
            var offset = 0
            for _ in 0..<2 {
                var found: [UInt8] = []
                #expect(decoder.next(bytes, at: &offset, payload: &found) == .text)
                #expect(found == payload)
            }
            #expect(offset == bytes.count)
        }
    }
}
