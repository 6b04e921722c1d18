internal import JSONBytes

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

/// The placeholders in an event's JSON that refer to its attachments: `{"_placeholder":true,"num":0}`.
public enum BinaryPlaceholders {
    /// Whether `json` is a valid array whose placeholders name attachments 0 to `count` - 1.
    ///
    /// A placeholder that points elsewhere must not reach other clients: their decoders throw on it.
    public static func areSound(_ json: UnsafeRawBufferPointer, count: Int) -> Bool {
        var document = JSONDocument()
        do {
            try document.parse(json, limits: .wellFormed)
        } catch {
            return false
        }
        guard document.root.kind == .array else { return false }
        // Iterative with an explicit stack: the peer chooses the depth.
        var open = [document.root]
        while let value = open.popLast() {
            guard Self.isSound(value, count: count) else { return false }
            for element in value.elements where element.kind == .array || element.kind == .object {
                open.append(element)
            }
            for member in value.members where member.value.kind == .array || member.value.kind == .object {
                open.append(member.value)
            }
        }
        return true
    }

    /// False for a placeholder of no attachment. Decoders differ about which of two equal keys counts: each one must do.
    private static func isSound(_ value: JSONValue, count: Int) -> Bool {
        guard value.members.contains(where: { $0.isString("_placeholder" as StaticString) && $1.bool == true }) else {
            return true
        }
        let numbers = value.members.filter { $0.key.isString("num" as StaticString) }.map(\.value.integer)
        return !numbers.isEmpty
            && numbers.allSatisfy { number in number.map { (0..<Int64(clamping: count)).contains($0) } ?? false }
    }
}
