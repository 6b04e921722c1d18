import Wire

/// The only source of chance in a world: equal seeds give equal worlds.
extension SplitMix64 {
    /// A number of a range, both ends included. Not quite even, which no world minds.
    mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 {
        range.lowerBound + self.next() % (range.upperBound - range.lowerBound + 1)
    }

    /// An index of a list with that many members.
    mutating func place(_ count: Int) -> Int {
        Int(self.next() % UInt64(max(1, count)))
    }

    /// True with that probability, per cent.
    mutating func chance(_ percent: UInt64) -> Bool {
        self.next() % 100 < percent
    }
}
