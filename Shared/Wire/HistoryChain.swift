/// The chain over a shard's commits: two logs with the same chain at the same position have the same rows before it.
///
/// Each row of the log has a *link*, a hash of the row's content, and a *chain*, which continues the chain of the
/// previous row in the shard's order:
///
///     chain(gseq) = mix(chain(gseq − 1) · 0x9E3779B97F4A7C15 + link(gseq)), 1 when that is 0
///     link        = fold over gseq, seq, n, body hash, room, session, from 0: h ← mix((h ⊕ value) + 0x9E3779B97F4A7C15)
///     mix(x)      = x ⊕ x ≫ 30, · 0xBF58476D1CE4E5B9, ⊕ ≫ 27, · 0x94D049BB133111EB, ⊕ ≫ 31
///
/// A text is folded as its length and then its bytes, eight at a time, little-endian, the last ones padded with zeros.
/// All arithmetic is modulo 2^64. It detects histories that differ by accident or fault; it is not a signature. The
/// chain 0 means unknown: the row, or the shard's last one, is older than the chain.
public enum HistoryChain {
    /// The link of one row.
    ///
    /// - Parameters:
    ///   - session: the stream of numbers, as the log has it.
    ///   - number: the commit's number in the session.
    ///   - body: the hash of its body.
    public static func link(
        gseq: UInt64, room: Identifier, seq: UInt64, session: Identifier, number: UInt64, body: UInt64
    ) -> UInt64 {
        var hash = self.fold(0, gseq)
        hash = self.fold(hash, seq)
        hash = self.fold(hash, number)
        hash = self.fold(hash, body)
        hash = self.fold(hash, room)
        return self.fold(hash, session)
    }

    public static func next(_ chain: UInt64, _ link: UInt64) -> UInt64 {
        max(1, splitMix(chain &* 0x9e37_79b9_7f4a_7c15 &+ link))
    }

    /// False when the row cannot follow the known chain. An unknown chain contradicts nothing.
    public static func continues(_ held: UInt64, link: UInt64, chain: UInt64) -> Bool {
        held == 0 || chain == 0 || self.next(held, link) == chain
    }

    private static func fold(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        splitMix((hash ^ value) &+ 0x9e37_79b9_7f4a_7c15)
    }

    private static func fold(_ hash: UInt64, _ name: Identifier) -> UInt64 {
        var text = name.text
        return text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            var hash = self.fold(hash, UInt64(bytes.count))
            var offset = 0
            while offset + 8 <= bytes.count {
                hash = self.fold(
                    hash, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                offset += 8
            }
            guard offset < bytes.count else { return hash }
            var last: UInt64 = 0
            for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
            return self.fold(hash, last)
        }
    }
}
