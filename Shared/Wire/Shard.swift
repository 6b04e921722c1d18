/// The 64 logical shards to which rooms are assigned.
///
/// Their number is part of the database's schema and independent of the number of daemons: the shard of a room is
/// fixed, the daemon that serves a shard is chosen among the live ones.
public enum Shard {
    public static let count = 64

    /// The shard of a room: the low six bits of FNV-1a over the room id's UTF-8 bytes.
    public static func of(room: Identifier) -> Int {
        Int(truncatingIfNeeded: room.withBytes { FNV1a.hash($0) } & UInt64(Self.count - 1))
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo): small, stable across processes and languages, not for secrets.
public struct FNV1a: Sendable {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    public mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }

    public static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a()
        hash.combine(bytes)
        return hash.value
    }
}
