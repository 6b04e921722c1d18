internal import SocketIO

/// Why a session ends: what its application hears, and what the close frame of its WebSocket says.
struct SessionEnding {
    let reason: DisconnectReason
    let code: UInt16
    let text: StaticString

    init(_ reason: DisconnectReason, code: UInt16, text: StaticString = "") {
        self.reason = reason
        self.code = code
        self.text = text
    }

    // MARK: The client ends it

    /// Its connection is closed, or it sent a close packet.
    static let leftByClient = Self(.transportClose, code: 1000)
    /// Its WebSocket was lost or closed.
    static func transportLost(_ reason: DisconnectReason) -> Self { Self(reason, code: 1000) }

    // MARK: The server ends it

    static func expired(_ expiry: EngineMachine.Expiry) -> Self {
        switch expiry {
        case .pingTimeout: .pingTimeout
        case .connectTimeout: .connectTimeout
        case .closeTimeout: .leftByClient
        }
    }
    static let pingTimeout = Self(.pingTimeout, code: 1001, text: "ping timeout")
    static let connectTimeout = Self(.connectTimeout, code: 1008, text: "no namespace joined in time")
    static let slowReader = Self(.slowReader, code: 4008, text: "slow reader")
    static let goingAway = Self(.drained, code: 1001, text: "going away")
    static func closed(_ code: UInt16, _ text: StaticString) -> Self {
        Self(.closedByServer(code), code: code, text: text)
    }

    // MARK: The client broke a rule

    static let protocolError = Self(.protocolError, code: 1002)
    static let payloadTooBig = Self(.payloadTooBig, code: 1009)
    static let malformedPacket = Self(.parseError, code: 1002, text: "malformed packet")
    static let binaryNotSupported = Self(.parseError, code: 1003, text: "binary events are not supported")
    /// - Parameter code: 1003 if no binary message is ever accepted, else 1002.
    static func unexpectedBinary(code: UInt16) -> Self {
        Self(.parseError, code: code, text: "unexpected binary message")
    }
    static let tooManyBadPackets = Self(.badPackets, code: 1008, text: "too many bad packets")
    static func violation(_ violation: WebSocketViolation) -> Self {
        Self(violation == .tooBig ? .payloadTooBig : .protocolError, code: violation.closeCode)
    }
    static let tooManyPings = Self(.protocolError, code: 1008, text: "too many pings")

    // MARK: Ways to end

    /// Whether a polling client may still fetch what is queued for it.
    var isGraceful: Bool {
        switch self.reason {
        case .closedByServer, .drained: true
        default: false
        }
    }

    var isGoingAway: Bool { self.reason == .drained }

    var isViolation: Bool {
        switch self.reason {
        case .protocolError, .parseError, .payloadTooBig, .badPackets: true
        default: false
        }
    }
}
