/// How long previews of several publishers shall wait for each other, as a gateway's load asks for it. A gateway notifies its
/// coalescers when a link comes up and when its load asks for another wait. A gateway of a release before sends none;
/// coalescers then gather for as long as they may.
///
///     level u16
public struct GatheringNotice: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.gatheringNotice
    /// The level at which previews wait as long as they may.
    public static let fullLevel: UInt16 = 1000

    /// The wait, in thousandths of the longest one; 0: previews leave when they arrive.
    public var level: UInt16

    public init(level: UInt16) {
        self.level = min(level, Self.fullLevel)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.level)
    }

    public init(from reader: inout ByteReader) {
        self.init(level: reader.integer())
    }
}
