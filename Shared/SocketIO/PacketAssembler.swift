/// A whole Socket.IO packet with its binary attachments.
public struct BinaryPacket: Sendable, Equatable {
    public var head: SocketPacketHead
    public var text: [UInt8]
    public var attachments: [[UInt8]]
}

/// Assembles binary packets: a head that announces attachments, then exactly that many binary frames.
///
/// ```
/// idle --head with attachments--> collecting --last attachment--> idle
/// ```
/// A text packet while collecting, or a binary frame while idle, is a protocol error.
public struct PacketAssembler: Sendable {
    private var pending: BinaryPacket?
    private var size = 0
    private let maxBytes: Int

    public enum Failure: Error, Equatable {
        case unexpectedText
        case unexpectedBinary
        case tooBig
    }

    /// An idle assembler; `maxBytes` limits one packet with its attachments.
    public init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// A head that announces attachments.
    public mutating func begin(_ head: SocketPacketHead, text: UnsafeRawBufferPointer) throws(Failure) {
        guard self.pending == nil else { throw .unexpectedText }
        self.pending = BinaryPacket(head: head, text: Array(text), attachments: [])
        self.size = text.count
    }

    /// A binary frame; the packet if it is complete now.
    public mutating func attach(_ bytes: [UInt8]) throws(Failure) -> BinaryPacket? {
        guard var packet = self.pending else { throw .unexpectedBinary }
        self.pending = nil
        let (size, overflow) = self.size.addingReportingOverflow(bytes.count)
        guard !overflow, size <= self.maxBytes else { throw .tooBig }
        self.size = size
        packet.attachments.append(bytes)
        if packet.attachments.count == packet.head.attachments { return packet }
        self.pending = packet
        return nil
    }
}
