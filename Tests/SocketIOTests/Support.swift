import SocketIO

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The head of the request that `text` begins with.
func requestHead(_ text: String) throws -> HTTPRequestHead {
    var parser = HTTPRequestParser(limits: HTTPLimits())
    var offset = 0
    let event = bytes(text).withUnsafeBytes { parser.next($0, at: &offset) }
    guard case .head(let head) = event else { throw RawClient.Failure(message: "no head: \(text)") }
    return head
}

/// One masked client frame with any bits a test wants.
func clientFrame(
    _ payload: [UInt8], first: UInt8 = 0x81, mask: [UInt8] = [0x11, 0x22, 0x33, 0x44], isMasked: Bool = true
) -> [UInt8] {
    var frame: [UInt8] = [first]
    let bit: UInt8 = isMasked ? 0x80 : 0
    switch payload.count {
    case ..<126: frame.append(bit | UInt8(payload.count))
    case ...0xFFFF: frame += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: frame += [bit | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    }
    guard isMasked else { return frame + payload }
    return frame + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
}

func clientText(_ text: String) -> [UInt8] { clientFrame(bytes(text)) }

/// Events of a decoder fed with pieces of `size` bytes, each with its payload.
func decode(
    _ input: [UInt8], size: Int, limits: WebSocketLimits = WebSocketLimits(maxMessage: 65_536)
) -> [(WebSocketEvent, [UInt8])] {
    var decoder = WebSocketDecoder(limits: limits)
    var events: [(WebSocketEvent, [UInt8])] = []
    var payload: [UInt8] = []
    for start in stride(from: 0, to: input.count, by: max(1, size)) {
        let piece = Array(input[start..<min(start + max(1, size), input.count)])
        piece.withUnsafeBytes { bytes in
            var offset = 0
            while let event = decoder.next(bytes, at: &offset, payload: &payload) { events.append((event, payload)) }
        }
    }
    return events
}
