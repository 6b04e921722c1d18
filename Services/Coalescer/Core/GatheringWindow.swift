import Timing

/// How long the previews of a room's publishers wait for each other, in order to leave together: the least time between two
/// flushes of a room, and the longest wait for another publisher. Zero: each preview leaves when it arrives.
struct GatheringWindow: Equatable {
    let length: Nanoseconds

    init(_ length: Nanoseconds) {
        self.length = length
    }

    /// Timed flushes happen at multiples of this, so that one wake-up serves many rooms.
    var cell: Nanoseconds { max(self.length / 4, Nanoseconds(1)) }
    /// Complete rooms with several publishers flush together, or at least this far apart. Shorter than the gateways' pause
    /// between two envelopes, so that nearly always a flush follows an envelope and needs no timer.
    var gathering: Nanoseconds { self.length / 8 }
}
