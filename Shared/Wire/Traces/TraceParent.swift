/// A `traceparent`: the trace of which a commit is a part, and whether its app records it (W3C Trace Context, section
/// 3.2).
///
///     version "-" trace-id "-" parent-id "-" trace-flags     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
///     2 digits    32           16             2              lower-case hexadecimal; neither id is all zeros
public struct TraceParent: Equatable, Sendable {
    public let id: TraceID
    /// True when the app may have recorded its part: the flag `sampled`.
    public let isSampled: Bool

    private static let length = 55
    private static let sampled: UInt64 = 1

    /// Reads the text of a `traceparent`. A version above 00 may have more fields, which are ignored.
    /// - Returns: nil when it is malformed.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count >= Self.length, let version = LowerHex.value(bytes[..<2]), version != 0xff,
            bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-"),
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let high = LowerHex.value(bytes[3..<19]), let low = LowerHex.value(bytes[19..<35]),
            let id = TraceID(high: high, low: low),
            let parent = LowerHex.value(bytes[36..<52]), parent != 0,
            let flags = LowerHex.value(bytes[53..<55])
        else { return nil }
        self.id = id
        self.isSampled = flags & Self.sampled != 0
    }
}
