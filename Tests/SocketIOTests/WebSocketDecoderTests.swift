import SocketIO
import Testing
import Wire

@Suite struct WebSocketDecoderTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func messagesSurviveAnyPieces(size: Int) {
        let long = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let input =
            clientText("hello") + clientFrame([], first: 0x81) + clientFrame(Array(long.prefix(300)), first: 0x82)
            + clientFrame(bytes("a"), first: 0x01) + clientFrame(bytes("p"), first: 0x89)
            + clientFrame(bytes("bc"), first: 0x80) + clientFrame(long, first: 0x82)
        let events = decode(input, size: size, limits: WebSocketLimits(maxMessage: 70_000))
        #expect(events.map(\.0) == [.text, .text, .binary, .ping, .text, .binary])
        #expect(events.map(\.1) == [bytes("hello"), [], Array(long.prefix(300)), bytes("p"), bytes("abc"), long])
    }

    @Test func protocolErrors() {
        let cases: [(String, [UInt8])] = [
            ("unmasked", clientFrame(bytes("x"), isMasked: false)),
            ("RSV1", clientFrame(bytes("x"), first: 0xC1)), ("RSV2", clientFrame(bytes("x"), first: 0xA1)),
            ("RSV3", clientFrame(bytes("x"), first: 0x91)),
            ("opcode 3", clientFrame([], first: 0x83)), ("opcode 7", clientFrame([], first: 0x87)),
            ("opcode 11", clientFrame([], first: 0x8B)), ("opcode 15", clientFrame([], first: 0x8F)),
            ("long ping", clientFrame(Array(repeating: 0, count: 126), first: 0x89)),
            ("fragmented ping", clientFrame([], first: 0x09)),
            ("continuation of nothing", clientFrame([], first: 0x80)),
            ("new text inside", clientFrame([], first: 0x01) + clientFrame([], first: 0x81)),
            ("close with one byte", clientFrame([3], first: 0x88)),
            ("close with a bad reason", clientFrame([0x03, 0xE8, 0xFF], first: 0x88)),
            ("short length in 16 bits", [0x81, 0xFE, 0, 125]),
            ("short length in 64 bits", [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]),
        ]
        for (name, input) in cases {
            #expect(decode(input, size: 1).last?.0 == .violation(.protocolError), "\(name)")
        }
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535] as [UInt16])
    func badCloseCodes(code: UInt16) {
        let input = clientFrame([UInt8(code >> 8), UInt8(code & 0xFF)], first: 0x88)
        #expect(decode(input, size: 100).map(\.0) == [.violation(.protocolError)])
    }

    @Test(arguments: [1000, 1001, 1003, 1007, 1011, 1014, 3000, 4999] as [UInt16])
    func goodCloseCodes(code: UInt16) {
        let input = clientFrame([UInt8(code >> 8), UInt8(code & 0xFF)] + bytes("bye"), first: 0x88)
        #expect(decode(input + clientText("late"), size: 5).map(\.0) == [.close(code)])
    }

    @Test func hugeLengthsAreRefusedFromTheHeader() {
        for length in [UInt64(1) << 62, 1 << 63, 65_537] {
            let header: [UInt8] =
                [0x82, 0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
            #expect(decode(header, size: 1).map(\.0) == [.violation(.tooBig)])
        }
    }

    @Test func fragmentsAndSumAreBounded() {
        let empty = clientFrame([], first: 0x01) + Array(repeating: clientFrame([], first: 0x00), count: 16).joined()
        #expect(decode(empty, size: 64).map(\.0) == [.violation(.tooBig)])
        let sum = clientFrame(Array(repeating: 65, count: 60), first: 0x01)
        let limits = WebSocketLimits(maxMessage: 100)
        #expect(
            decode(sum + clientFrame(Array(repeating: 65, count: 41), first: 0x80), size: 9, limits: limits).map(\.0)
                == [.violation(.tooBig)])
        #expect(
            decode(sum + clientFrame(Array(repeating: 65, count: 40), first: 0x80), size: 9, limits: limits).map(\.0)
                == [.text])
    }

    @Test func textMustBeUTF8AsSoonAsItIsKnown() {
        let euro = bytes("€")
        let split = clientFrame([euro[0]], first: 0x01) + clientFrame(Array(euro[1...]), first: 0x80)
        #expect(decode(split, size: 1).map(\.1) == [euro])
        // Refused before the message ends: overlong, surrogate, beyond U+10FFFF, lone continuation.
        for bad in [[0xC0, 0xAF], [0xED, 0xA0], [0xF4, 0x90], [0x80], [0xF5], [0xE0, 0x80]] as [[UInt8]] {
            let frame = clientFrame(bytes("ok") + bad + bytes("more"), first: 0x01)
            #expect(decode(Array(frame.dropLast(4)), size: 1).map(\.0) == [.violation(.invalidUTF8)], "\(bad)")
        }
        #expect(decode(clientFrame([euro[0]]), size: 10).map(\.0) == [.violation(.invalidUTF8)])
        #expect(decode(clientFrame([0xFF], first: 0x82), size: 10).map(\.0) == [.binary])
    }

    /// Any bytes at all: the decoder ends in nothing worse than a violation, and pieces do not matter.
    @Test func flippedBitsNeverTrap() {
        for seed in 0..<300 as Range<UInt64> {
            var generator = SplitMix64(seed: seed)
            var input =
                clientText("hello wörld") + clientFrame([1, 2, 3], first: 0x02) + clientFrame(bytes("!"), first: 0x80)
            input += clientFrame(Array(repeating: 7, count: 200), first: 0x82) + clientFrame([0x03, 0xE8], first: 0x88)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<input.count, using: &generator)
                input[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            input.removeLast(Int.random(in: 0..<input.count, using: &generator))
            let whole = decode(input, size: input.count)
            let pieces = decode(input, size: Int.random(in: 1...9, using: &generator))
            #expect(whole.map(\.0) == pieces.map(\.0), "seed \(seed)")
        }
    }

    @Test func maskingMatchesTheDefinition() {
        for count in 0..<40 {
            for phase in 0..<4 {
                var data = (0..<count).map { UInt8($0) }
                let key: [UInt8] = [0xA1, 0xB2, 0xC3, 0xD4]
                let expected = data.enumerated().map { $0.element ^ key[($0.offset + phase) & 3] }
                data.withUnsafeMutableBytes { WebSocketFrame.unmask($0, mask: 0xD4C3_B2A1, phase: phase) }
                #expect(data == expected)
            }
        }
    }

    @Test func serverHeaders() {
        func header(_ length: Int) -> [UInt8] { WebSocketFrame.withHeader(.text, payloadLength: length) { Array($0) } }
        #expect(header(125) == [0x81, 125])
        #expect(header(126) == [0x81, 126, 0, 126])
        #expect(header(65_535) == [0x81, 126, 0xFF, 0xFF])
        #expect(header(65_536) == [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(WebSocketFrame.closePayload(code: 1000, reason: "x") == [0x03, 0xE8, 0x78])
    }
}
