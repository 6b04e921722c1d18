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

public enum EngineTransport: Sendable, Equatable {
    case polling
    case webSocket
}

public enum EnginePacket: Sendable, Equatable {
    /// The content is that of ``EnginePayloadReader/withContent(_:)``.
    case text(EnginePacketType)
    case binary([UInt8])
}

/// Why a polling body is not a payload of Engine.IO protocol 4, or not one of ours.
public enum EnginePayloadError: Error, Equatable {
    case emptyPacket
    case unknownType
    case badBase64
    case notUTF8
    case tooManyPackets
    case packetTooLarge
}

/// Splits a polling body, which comes in pieces of any size, into packets: packets are joined by `U+001E`; `b` starts
/// base64. It keeps one packet at most.
public struct EnginePayloadReader: Sendable {
    public static let separator: UInt8 = 0x1E

    private let maxPackets: Int
    private let maxPacket: Int
    /// The packets read so far, with the one that was too many.
    public private(set) var count = 0
    /// The packet that was read last, or the part that has come of the next one.
    private var packet: [UInt8] = []
    private var isComplete = false

    /// A reader at the start of a body of at most `maxPackets` packets of at most `maxPacket` bytes.
    public init(maxPackets: Int, maxPacket: Int) {
        self.maxPackets = maxPackets
        self.maxPacket = maxPacket
    }

    public var heldBytes: Int { self.packet.count }

    /// Reads from `offset` to the end of a packet, or of the input: `nil`.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(EnginePayloadError) -> EnginePacket? {
        self.beginPacket()
        let rest = input[offset...]
        let end = rest.firstIndex(of: Self.separator)
        let part = rest[..<(end ?? input.count)]
        guard part.count <= self.maxPacket - self.packet.count else { throw .packetTooLarge }
        self.packet.append(contentsOf: part.assumingBytes)
        offset = end.map { $0 + 1 } ?? input.count
        return end == nil ? nil : try self.endPacket()
    }

    /// The last packet, which ends with the body. An empty body is an error: it has one empty packet.
    public mutating func last() throws(EnginePayloadError) -> EnginePacket {
        self.beginPacket()
        return try self.endPacket()
    }

    /// The content of the text packet that was read last.
    public func withContent(_ body: (UnsafeRawBufferPointer) -> Void) {
        self.packet.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropFirst())) }
    }

    private mutating func beginPacket() {
        if self.isComplete { self.packet.removeAll(keepingCapacity: true) }
        self.isComplete = false
    }

    private mutating func endPacket() throws(EnginePayloadError) -> EnginePacket {
        self.isComplete = true
        let packet = try self.decoded()
        self.count += 1
        guard self.count <= self.maxPackets else { throw .tooManyPackets }
        return packet
    }

    private func decoded() throws(EnginePayloadError) -> EnginePacket {
        guard let first = self.packet.first else { throw .emptyPacket }
        if first == UInt8(ascii: "b") {
            let bytes = self.packet.withUnsafeBytes { Base64.decode(UnsafeRawBufferPointer(rebasing: $0.dropFirst())) }
            guard let bytes else { throw .badBase64 }
            return .binary(bytes)
        }
        guard let type = EnginePacketType(rawValue: first) else { throw .unknownType }
        guard self.packet.withUnsafeBytes({ UTF8Validator.isValid($0) }) else { throw .notUTF8 }
        return .text(type)
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
