internal import Timing

/// The delays between rounds of connection attempts: doubled up to a maximum, each drawn from its upper half so that
/// daemons that lost the same server do not reconnect in step.
struct ConnectionBackoff {
    let minimum: Nanoseconds
    let maximum: Nanoseconds
    private var ceiling: Nanoseconds
    private var random: Jitter

    init(minimum: Nanoseconds, maximum: Nanoseconds, seed: UInt64) {
        self.minimum = max(Nanoseconds(1), minimum)
        self.maximum = max(self.minimum, maximum)
        ceiling = self.minimum
        random = Jitter(state: seed)
    }

    mutating func next() -> Nanoseconds {
        let delay = ceiling - Nanoseconds(UInt64.random(in: 0...ceiling.count / 2, using: &random))
        ceiling = min(maximum, ceiling * 2)
        return delay
    }

    mutating func reset() {
        ceiling = minimum
    }
}

/// A small seeded generator, SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct Jitter: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
