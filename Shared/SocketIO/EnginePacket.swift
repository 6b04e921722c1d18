internal import JSONBytes

/// The packet types of Engine.IO protocol 4, as their digit on the wire.
public enum EnginePacketType: UInt8, Sendable {
    case open = 0x30
    case close
    case ping
    case pong
    case message
    case upgrade
    case noop
}

/// The transports of Engine.IO.
public enum EngineTransport: Sendable, Equatable {
    case polling
    case webSocket
}

/// One packet of a polling body: the range of its content in the body, or the decoded bytes if it was binary.
public enum EnginePacket: Sendable, Equatable {
    case text(EnginePacketType, Range<Int>)
    case binary([UInt8])
}

/// Why a polling body is not a payload of Engine.IO protocol 4.
public enum EnginePayloadError: Error, Equatable {
    case emptyPacket
    case unknownType
    case badBase64
    case notUTF8
    case tooManyPackets
}

/// Splits a polling body into packets, one at a time: packets are joined by `U+001E`; `b` starts base64.
public struct EnginePayloadReader: Sendable {
    /// The separator between packets.
    public static let separator: UInt8 = 0x1E

    private let maxPackets: Int
    /// The packets read so far, with the one that was too many.
    public private(set) var count = 0
    private var position = 0
    private var isAtEnd = false

    /// A reader at the start of a body of at most that many packets.
    public init(maxPackets: Int) {
        self.maxPackets = maxPackets
    }

    /// The next packet of `body`, `nil` after the last. An empty body is an error: it has one empty packet.
    public mutating func next(in body: UnsafeRawBufferPointer) throws(EnginePayloadError) -> EnginePacket? {
        guard !self.isAtEnd else { return nil }
        let packet = try self.read(body)
        self.count += 1
        guard self.count <= self.maxPackets else { throw .tooManyPackets }
        return packet
    }

    private mutating func read(_ body: UnsafeRawBufferPointer) throws(EnginePayloadError) -> EnginePacket {
        let rest = body[min(self.position, body.count)...]
        let end = rest.firstIndex(of: Self.separator) ?? body.count
        let start = rest.startIndex
        self.isAtEnd = end == body.count
        self.position = end + 1
        guard start < end else { throw .emptyPacket }
        let first = body[start]
        if first == UInt8(ascii: "b") {
            guard let bytes = Base64.decode(UnsafeRawBufferPointer(rebasing: body[(start + 1)..<end])) else {
                throw .badBase64
            }
            return .binary(bytes)
        }
        guard let type = EnginePacketType(rawValue: first) else { throw .unknownType }
        guard UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: body[start..<end])) else { throw .notUTF8 }
        return .text(type, (start + 1)..<end)
    }
}

/// The errors that Engine.IO reports over HTTP, by their code.
public enum EngineError: UInt8, Error, Sendable {
    case unknownTransport = 0
    case unknownSession
    case badHandshakeMethod
    case badRequest
    case forbidden
    case unsupportedVersion

    /// The HTTP status: 403 for `forbidden`, else 400.
    public var status: UInt16 { self == .forbidden ? 403 : 400 }

    /// The text of the reference server.
    public var message: String {
        switch self {
        case .unknownTransport: "Transport unknown"
        case .unknownSession: "Session ID unknown"
        case .badHandshakeMethod: "Bad handshake method"
        case .badRequest: "Bad request"
        case .forbidden: "Forbidden"
        case .unsupportedVersion: "Unsupported protocol version"
        }
    }

    /// The JSON body `{"code":…,"message":…}`.
    /// - Parameter message: in place of the reference server's.
    public func body(_ message: String? = nil) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("code", Int(self.rawValue))
            writer.member("message", message ?? self.message)
        }
    }
}
