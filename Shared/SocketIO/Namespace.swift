/// The name of a Socket.IO namespace, compared byte by byte.
public struct Namespace: Hashable, Sendable, CustomStringConvertible {
    /// The name as on the wire, `/custom`; empty for the main namespace.
    public let bytes: [UInt8]

    /// The main namespace, `/`.
    public static let root = Namespace(wire: [])

    /// A namespace from its name; `""` and `"/"` are the main one, a missing slash is added.
    public init(_ name: String) {
        let text = name.hasPrefix("/") ? name : "/" + name
        self.init(wire: Array(text.utf8)[...])
    }

    /// A namespace from the bytes between the packet type and the comma.
    public init(wire: ArraySlice<UInt8>) {
        self.bytes = wire.elementsEqual([UInt8(ascii: "/")]) ? [] : Array(wire)
    }

    public var description: String { self.bytes.isEmpty ? "/" : String(decoding: self.bytes, as: UTF8.self) }

    public var isRoot: Bool { self.bytes.isEmpty }

    /// The text in a packet between type and ack id: empty or `/custom,`.
    public var wirePrefix: [UInt8] { self.bytes.isEmpty ? [] : self.bytes + [UInt8(ascii: ",")] }
}
