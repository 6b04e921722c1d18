/// The limits of a message on one connection.
public struct WebSocketLimits: Sendable, Equatable {
    /// The size of one message, over all its fragments, bytes.
    public var maxMessage: Int
    /// The number of frames of one message; stops a flood of empty fragments.
    public var maxFragments: Int

    public init(maxMessage: Int, maxFragments: Int = 16) {
        self.maxMessage = max(0, maxMessage)
        self.maxFragments = max(1, maxFragments)
    }
}

/// A violation of RFC 6455; each has its close code.
public enum WebSocketViolation: Sendable, Equatable {
    /// Masking, reserved bits, opcodes, fragmentation, control frame sizes, bad close frames: 1002.
    case protocolError
    /// Text that is not UTF-8: 1007.
    case invalidUTF8
    case tooBig

    /// The code for the close frame that answers the violation.
    public var closeCode: UInt16 {
        switch self {
        case .protocolError: 1002
        case .invalidUTF8: 1007
        case .tooBig: 1009
        }
    }
}

/// An event of the peer; its bytes are in the payload buffer passed to ``WebSocketDecoder/next(_:at:payload:)``.
public enum WebSocketEvent: Sendable, Equatable {
    case text
    case binary
    case ping
    case pong
    /// The code of the peer's close frame, `nil` if it sent none.
    case close(UInt16?)
    case violation(WebSocketViolation)
}

/// Decodes the frames of a WebSocket client (RFC 6455 section 5), from pieces of any size down to single bytes.
///
/// ```
/// first byte -> length -> [extended length] -> mask -> payload -> first byte …       close or violation -> deaf
/// ```
/// A frame whose length exceeds the limits is rejected when its header is read, before a byte is stored. A message that
/// is contiguous in the input is written straight to the caller's buffer; only partial ones are buffered here, so an
/// idle decoder owns no memory. After a close frame or a violation all input is ignored.
public struct WebSocketDecoder: Sendable {
    private enum Stage: UInt8 {
        case first, second, extended, mask, payload, deaf
    }

    private let limits: WebSocketLimits
    private var stage = Stage.first
    /// Outstanding bytes of the extended length or of the mask.
    private var due: UInt8 = 0
    /// Whether the extended length has eight bytes.
    private var isWide = false
    private var isFinal = false
    private var opcode = WebSocketOpcode.continuation
    /// Opcode of the unfinished message, or nil between messages.
    private var message: WebSocketOpcode?
    private var mask: UInt32 = 0
    private var length: UInt64 = 0
    private var consumed = 0
    private var fragments = 0
    private var utf8 = UTF8Validator()
    private var assembly: [UInt8] = []
    private var control: [UInt8] = []

    public init(limits: WebSocketLimits) {
        self.limits = limits
    }

    public var heldBytes: Int { self.assembly.count + self.control.count }

    /// Reads on from `offset` until one event is complete (its bytes then are all of `payload`) or the input ends.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, at offset: inout Int, payload: inout [UInt8]
    ) -> WebSocketEvent? {
        while self.stage != .deaf {
            if self.stage == .payload {
                if let event = self.readPayload(input, at: &offset, payload: &payload) { return event }
                if self.stage == .payload { return nil }
                continue
            }
            guard offset < input.count else { return nil }
            let byte = input[offset]
            offset += 1
            if let violation = self.headerByte(byte) { return self.fail(violation) }
        }
        offset = input.count
        return nil
    }

    private mutating func fail(_ violation: WebSocketViolation) -> WebSocketEvent {
        self.stage = .deaf
        self.assembly = []
        self.control = []
        self.message = nil
        return .violation(violation)
    }
}

extension WebSocketDecoder {
    private mutating func headerByte(_ byte: UInt8) -> WebSocketViolation? {
        switch self.stage {
        case .first: return self.firstByte(byte)
        case .second: return self.secondByte(byte)
        case .extended:
            self.length = self.length << 8 | UInt64(byte)
            self.due -= 1
            return self.due == 0 ? self.lengthKnown() : nil
        case .mask:
            // The four bytes enter at the top and move down, so the first one ends up lowest.
            self.mask = self.mask >> 8 | UInt32(byte) << 24
            self.due -= 1
            if self.due == 0 {
                self.consumed = 0
                self.stage = .payload
            }
            return nil
        case .payload, .deaf:
            return nil
        }
    }

    private mutating func firstByte(_ byte: UInt8) -> WebSocketViolation? {
        guard byte & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { return .protocolError }
        self.isFinal = byte & 0x80 != 0
        self.opcode = opcode
        if opcode.isControl {
            guard self.isFinal else { return .protocolError }
        } else {
            // A continuation requires an unfinished message; any other data frame requires that there is none.
            guard (opcode == .continuation) == (self.message != nil) else { return .protocolError }
        }
        self.stage = .second
        return nil
    }

    private mutating func secondByte(_ byte: UInt8) -> WebSocketViolation? {
        guard byte & 0x80 != 0 else { return .protocolError }
        let short = byte & 0x7F
        self.length = 0
        switch short {
        case ..<126:
            self.length = UInt64(short)
            return self.lengthKnown()
        default:
            if self.opcode.isControl { return .protocolError }
            self.isWide = short == 127
            self.due = self.isWide ? 8 : 2
            self.stage = .extended
            return nil
        }
    }

    private mutating func lengthKnown() -> WebSocketViolation? {
        if self.stage == .extended {
            // RFC 6455 5.2: the minimal number of bytes must be used.
            guard self.length >= (self.isWide ? 0x1_0000 : 126) else { return .protocolError }
        }
        if !self.opcode.isControl {
            guard self.length <= UInt64(self.limits.maxMessage - self.assembly.count) else { return .tooBig }
            self.fragments += 1
            guard self.fragments <= self.limits.maxFragments else { return .tooBig }
            if self.opcode != .continuation { self.message = self.opcode }
        }
        self.due = 4
        self.mask = 0
        self.stage = .mask
        return nil
    }
}

extension WebSocketDecoder {
    private mutating func readPayload(
        _ input: UnsafeRawBufferPointer, at offset: inout Int, payload: inout [UInt8]
    ) -> WebSocketEvent? {
        let remaining = Int(truncatingIfNeeded: self.length) - self.consumed
        let available = min(remaining, input.count - offset)
        let piece = UnsafeRawBufferPointer(rebasing: input[offset..<(offset + available)])
        offset += available
        let isWhole = available == remaining
        if self.opcode.isControl {
            self.unmask(piece, into: &self.control)
            self.consumed += available
            return isWhole ? self.controlComplete(payload: &payload) : nil
        }
        let isText = self.message == .text
        if isWhole, self.isFinal, self.assembly.isEmpty {
            payload.removeAll(keepingCapacity: true)
            guard self.appendMessage(piece, isText: isText, into: &payload) else { return self.fail(.invalidUTF8) }
            return self.messageComplete(isText: isText)
        }
        var assembly = self.assembly
        self.assembly = []  // Moved out, so that appending does not copy.
        let isSound = self.appendMessage(piece, isText: isText, into: &assembly)
        self.assembly = assembly
        guard isSound else { return self.fail(.invalidUTF8) }
        self.consumed += available
        guard isWhole else { return nil }
        guard self.isFinal else {
            self.stage = .first
            return nil
        }
        payload = assembly
        self.assembly = []
        return self.messageComplete(isText: isText)
    }

    private mutating func appendMessage(
        _ piece: UnsafeRawBufferPointer, isText: Bool, into target: inout [UInt8]
    ) -> Bool {
        let start = target.count
        self.unmask(piece, into: &target)
        guard isText else { return true }
        return target.withUnsafeBytes { bytes in
            self.utf8.feed(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    private func unmask(_ piece: UnsafeRawBufferPointer, into target: inout [UInt8]) {
        let start = target.count
        target.append(contentsOf: piece.assumingMemoryBound(to: UInt8.self))
        target.withUnsafeMutableBytes { bytes in
            WebSocketFrame.unmask(
                UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), mask: self.mask, phase: self.consumed)
        }
    }

    private mutating func messageComplete(isText: Bool) -> WebSocketEvent {
        guard self.utf8.isComplete else { return self.fail(.invalidUTF8) }
        self.message = nil
        self.fragments = 0
        self.stage = .first
        return isText ? .text : .binary
    }

    private mutating func controlComplete(payload: inout [UInt8]) -> WebSocketEvent {
        payload.removeAll(keepingCapacity: true)
        payload.append(contentsOf: self.control)
        self.control = []
        self.stage = .first
        switch self.opcode {
        case .ping: return .ping
        case .pong: return .pong
        default: return self.closeReceived(payload)
        }
    }

    private mutating func closeReceived(_ payload: [UInt8]) -> WebSocketEvent {
        if payload.isEmpty {
            self.stage = .deaf
            return .close(nil)
        }
        guard payload.count >= 2 else { return self.fail(.protocolError) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        let isReasonText = payload.withUnsafeBytes { UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: $0[2...])) }
        guard WebSocketFrame.isValidCloseCode(code), isReasonText else { return self.fail(.protocolError) }
        self.stage = .deaf
        self.assembly = []
        return .close(code)
    }
}
