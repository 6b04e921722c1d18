public import Canvas
internal import JSONBytes

/// Which rules of element types a committer applies. It notifies its fan-outs, which apply theirs to previews, when a
/// link comes up and when its rules change.
///
///     fingerprint u64
public struct RulesNotice: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.rulesNotice

    /// The rules' ``Canvas/RulesTable/fingerprint``.
    public var fingerprint: UInt64

    public init(fingerprint: UInt64) {
        self.fingerprint = fingerprint
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.fingerprint)
    }

    public init(from reader: inout ByteReader) {
        self.fingerprint = reader.integer()
    }
}

extension RulesTable {
    /// Identifies the rules: the FNV-1a hash of their text. Equal tables have the same on every machine.
    public var fingerprint: UInt64 {
        var writer = JSONWriter()
        self.encode(into: &writer)
        return FNV1a.hash(writer.bytes)
    }
}
