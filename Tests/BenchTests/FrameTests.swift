import SocketIO
import Testing

@testable import bench

@Suite struct FrameTests {
    /// Frames as a server sends them, and the messages in them.
    static func stream() -> (bytes: [UInt8], messages: [[UInt8]]) {
        let messages = [0, 1, 125, 126, 300, 65_535, 65_536].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        }
        var bytes: [UInt8] = []
        for message in messages {
            WebSocketFrame.withHeader(.text, payloadLength: message.count) { bytes += $0 }
            bytes += message
        }
        return (bytes, messages)
    }

    static func split(_ pieces: [ArraySlice<UInt8>]) throws(ServerFrames.Violation) -> [[UInt8]] {
        var frames = ServerFrames()
        var messages: [[UInt8]] = []
        for piece in pieces {
            let bytes = Array(piece)
            var violation: ServerFrames.Violation?
            bytes.withUnsafeBytes { raw in
                do throws(ServerFrames.Violation) {
                    try frames.feed(raw) { messages.append(Array($1)) }
                } catch {
                    violation = error
                }
            }
            if let violation { throw violation }
        }
        return messages
    }

    @Test func messagesComeOutWholeHoweverTheBytesAreCut() throws {
        let (bytes, messages) = Self.stream()
        #expect(try Self.split([bytes[...]]) == messages)
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = MaskGenerator(seed: seed)
        for _ in 0..<50 {
            var pieces: [ArraySlice<UInt8>] = []
            var begin = 0
            while begin < bytes.count {
                let end = min(bytes.count, begin + 1 + Int(random.next() % (random.next() % 4 == 0 ? 50_000 : 9)))
                pieces.append(bytes[begin..<end])
                begin = end
            }
            #expect(try Self.split(pieces) == messages, "seed \(seed)")
        }
    }

    @Test func cutAtEveryByteOfSmallMessages() throws {
        var bytes: [UInt8] = []
        for text in ["2", "40{}", "42[\"a\"]"] {
            WebSocketFrame.withHeader(.text, payloadLength: text.utf8.count) { bytes += $0 }
            bytes += text.utf8
        }
        for cut in 0...bytes.count {
            #expect(try Self.split([bytes[..<cut], bytes[cut...]]).count == 3)
        }
    }

    @Test func fragmentsBecomeOneMessageAPingBetweenThemStaysOneOfItsOwn() throws {
        let bytes: [UInt8] = [0x01, 2, 0x34, 0x32, 0x89, 0, 0x00, 1, 0x5B, 0x80, 1, 0x5D]
        #expect(try Self.split([bytes[...]]) == [[], Array("42[]".utf8)])
    }

    @Test(arguments: [
        [0x83, 0] as [UInt8], [0x81, 0x80, 0, 0, 0, 0], [0x81, 127, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0],
        [0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ])
    func unknownOpcodesMasksAndMonstrousLengthsAreRefused(bytes: [UInt8]) {
        #expect(throws: ServerFrames.Violation.self) { try Self.split([bytes[...]]) }
    }

    @Test(arguments: [0, 1, 5, 125, 126, 65_535, 65_536])
    func clientFramesAreMaskedAndReadBackByAServersDecoder(count: Int) {
        let payload = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        var output: [UInt8] = []
        payload.withUnsafeBytes { ClientFrame.append(.text, $0, mask: 0xA1B2_C3D4, to: &output) }
        // Two of them: what is behind the first is not touched.
        payload.withUnsafeBytes { ClientFrame.append(.text, $0, mask: 0x0102_0304, to: &output) }
        var decoder = WebSocketDecoder(limits: WebSocketLimits(maxMessage: 1 << 20))
        output.withUnsafeBytes { bytes in
            var offset = 0
            for _ in 0..<2 {
                var found: [UInt8] = []
                // The decoder refuses frames without a mask.
                #expect(decoder.next(bytes, at: &offset, payload: &found) == .text)
                #expect(found == payload)
            }
            #expect(offset == bytes.count)
        }
    }
}
