/// A Socket.IO packet with binary attachments, which come behind it, one in each binary frame. Any other packet in
/// between is a protocol error.
public struct BinaryPacket: Sendable {
    /// The head; its ranges refer to `text`.
    public let head: SocketPacketHead
    public let text: [UInt8]
    public private(set) var attachments: [[UInt8]] = []
    private var size: Int
    private let maxBytes: Int

    /// A packet of which all attachments are still to come.
    /// - Parameter maxBytes: limits the packet with its attachments.
    public init(_ head: SocketPacketHead, text: UnsafeRawBufferPointer, maxBytes: Int) {
        self.head = head
        self.text = Array(text)
        self.size = text.count
        self.maxBytes = maxBytes
    }

    public var isComplete: Bool { self.attachments.count == self.head.attachments }

    /// Adds the next attachment; false when the packet is too large with it.
    public mutating func attach(_ bytes: [UInt8]) -> Bool {
        self.attachments.append(bytes)
        let (size, overflow) = self.size.addingReportingOverflow(bytes.count)
        self.size = size
        return !overflow && size <= self.maxBytes
    }
}
