/// The 64 logical shards that rooms are spread over.
///
/// Their number is part of the database's schema and never follows the number of daemons: which daemon serves a shard
/// is decided over the live ones, which rooms a shard holds is decided once.
public enum Shard {
    /// How many shards there are.
    public static let count = 64

    /// The shard of a room: the low six bits of FNV-1a over the room id's UTF-8 bytes.
    public static func of(room: Identifier) -> Int {
        Int(truncatingIfNeeded: room.withBytes { FNV1a.hash($0) } & UInt64(Self.count - 1))
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo): small, stable across processes and languages, not for secrets.
public struct FNV1a: Sendable {
    /// The hash of what was fed so far.
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Starts at the offset basis.
    public init() {}

    /// Feeds bytes.
    public mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }

    /// The hash of one run of bytes.
    public static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a()
        hash.combine(bytes)
        return hash.value
    }
}
