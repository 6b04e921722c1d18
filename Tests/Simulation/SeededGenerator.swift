/// The only source of chance in a world: SplitMix64 (Steele, Lea, Flood 2014). Equal seeds give equal worlds.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The sequence of a seed.
    package init(seed: UInt64) {
        self.state = seed
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var bits = self.state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }

    /// A number of a range, both ends included. Not quite even, which no world minds.
    mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 {
        range.lowerBound + self.next() % (range.upperBound - range.lowerBound + 1)
    }

    /// A place of a list of so many.
    mutating func place(_ count: Int) -> Int {
        Int(self.next() % UInt64(max(1, count)))
    }

    /// True about so many times in a hundred.
    mutating func chance(_ percent: UInt64) -> Bool {
        self.next() % 100 < percent
    }
}
