/// A small seeded generator, SplitMix64: every seed gives its own sequence; not for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator; the same seed gives the same numbers.
    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        return splitMix(self.state)
    }
}

/// The finisher of SplitMix64 (Steele, Lea, Flood 2014): each bit of the value changes about half of the result's bits.
package func splitMix(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
}
