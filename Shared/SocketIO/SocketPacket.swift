/// The packet types of Socket.IO protocol 5, as their digit on the wire.
public enum SocketPacketType: UInt8, Sendable {
    case connect = 0x30
    case disconnect
    case event
    case ack
    case connectError
    case binaryEvent
    case binaryAck

    public var isBinary: Bool { self == .binaryEvent || self == .binaryAck }
}

/// A malformed packet; it ends the connection.
public enum SocketPacketError: Error, Equatable {
    case unknownType
    /// Missing, zero or too many.
    case badAttachments
    case badNamespace
    case badAckID
    case badPayload
}

/// The head of one Socket.IO packet: `<type>[<attachments>-][<namespace>,][<ack id>][JSON]`.
///
/// Only what is needed to route the packet is parsed. Of the JSON only the first byte is checked (`{` or nothing for
/// CONNECT, nothing for DISCONNECT, `[` for events and acks); the rest may be anything.
public struct SocketPacketHead: Equatable, Sendable {
    /// The largest ack id: a larger one is not exact in JavaScript.
    public static let maxAckID: UInt64 = 1 << 53 - 1
    /// The length of the longest namespace, bytes.
    public static let maxNamespace = 256

    public var type: SocketPacketType
    public var attachments: Int
    /// The range of the namespace, with its slash and without its comma; empty for the main one.
    public var namespace: Range<Int>
    public var ackID: UInt64?
    public var payload: Int

    /// Parses the head of a packet (without the Engine.IO digit).
    public init(_ bytes: UnsafeRawBufferPointer, maxAttachments: Int) throws(SocketPacketError) {
        guard let first = bytes.first, let type = SocketPacketType(rawValue: first), type != .connectError else {
            throw .unknownType
        }
        var index = 1
        self.type = type
        self.attachments = 0
        self.namespace = 0..<0
        if type.isBinary {
            guard let (count, end) = Self.digits(bytes, from: 1, max: UInt64(clamping: maxAttachments)), count > 0,
                end < bytes.count, bytes[end] == UInt8(ascii: "-")
            else { throw .badAttachments }
            self.attachments = Int(count)
            index = end + 1
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: "/") {
            let end = bytes[index...].prefix(Self.maxNamespace + 1).firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
            guard end - index <= Self.maxNamespace else { throw .badNamespace }
            if end - index > 1 { self.namespace = index..<end }
            index = min(end + 1, bytes.count)
        }
        if index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
            guard let (id, end) = Self.digits(bytes, from: index, max: Self.maxAckID) else { throw .badAckID }
            self.ackID = id
            index = end
        }
        self.payload = index
        try self.checkShape(bytes)
    }

    private func checkShape(_ bytes: UnsafeRawBufferPointer) throws(SocketPacketError) {
        let first = bytes[self.payload...].first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        switch self.type {
        case .connect:
            guard self.ackID == nil else { throw .badAckID }
            guard first == nil || first == UInt8(ascii: "{") else { throw .badPayload }
        case .disconnect:
            guard self.ackID == nil else { throw .badAckID }
            guard first == nil else { throw .badPayload }
        case .event, .binaryEvent:
            // Something other than an ack id at its position, such as `abc[`.
            guard first == UInt8(ascii: "[") else { throw .badPayload }
        case .ack, .binaryAck:
            guard self.ackID != nil else { throw .badAckID }
            guard first == UInt8(ascii: "[") else { throw .badPayload }
        case .connectError: throw .unknownType
        }
    }

    /// Decimal digits up to `max`; nil if there is none or the number is larger.
    private static func digits(
        _ bytes: UnsafeRawBufferPointer, from start: Int, max: UInt64
    ) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        var index = start
        while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
            value = value &* 10 &+ UInt64(bytes[index] - UInt8(ascii: "0"))
            // `max` is at most 2^53, so ten times it plus nine cannot have overflowed.
            guard value <= min(max, Self.maxAckID) else { return nil }
            index += 1
        }
        return index > start ? (value, index) : nil
    }
}
