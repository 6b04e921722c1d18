/// A seeded hash of a key's bytes, eight at a time: each word is mixed in by one multiplication whose upper and lower
/// half are folded together.
///
/// Without the seed nobody can compose keys with equal hashes; that is all it is for, it is no cryptographic hash.
struct KeyHash {
    /// Two random words.
    struct Seed {
        fileprivate let start: UInt64
        fileprivate let factor: UInt64
    }

    /// The seed of this process, derived from that of the standard library's `Hasher`, which is random.
    static let processSeed = Seed(start: Self.secret(0), factor: Self.secret(1) | 1)

    private static func secret(_ number: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private let factor: UInt64
    private var state: UInt64
    /// The bytes since the last whole word, the first in the lowest byte, and their number.
    private var tail: UInt64 = 0
    private var tailCount = 0
    private var wordCount: UInt64 = 0

    init(seed: Seed) {
        self.state = seed.start
        self.factor = seed.factor
    }

    /// Appends eight bytes, the first in the lowest byte. Must not follow single bytes that are no whole word.
    @inline(__always)
    mutating func append(word: UInt64) {
        self.state = Self.folded(self.state ^ word, self.factor)
        self.wordCount &+= 1
    }

    mutating func append(_ byte: UInt8) {
        self.tail |= UInt64(byte) << UInt64(8 * self.tailCount)
        self.tailCount += 1
        guard self.tailCount == 8 else { return }
        self.append(word: self.tail)
        self.tail = 0
        self.tailCount = 0
    }

    /// The hash of the bytes appended one by one.
    func finalize() -> UInt64 { self.finalize(tail: self.tail, byteCount: self.tailCount) }

    /// The hash of the appended words and the lowest `byteCount` (0 to 7) bytes of `tail`.
    @inline(__always)
    func finalize(tail: UInt64, byteCount: Int) -> UInt64 {
        let bits = UInt64(8 * byteCount)
        let rest = tail & ~(UInt64.max << bits)
        return Self.folded(self.state ^ rest, self.factor ^ (self.wordCount << 8 | bits))
    }

    @inline(__always)
    private static func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
