/// When a connection is dropped whose request or closing takes too long. A peer that goes on reading what it was sent gets
/// more time.
struct PeerDeadline {
    /// On the loop's clock; `.max` for none.
    private(set) var time = UInt64.max
    /// The output that the peer had not read at the deadline before.
    private var unsentBefore = Int.max
    /// What a peer must have read between two deadlines, bytes.
    private static let leastProgress = 4096

    mutating func set(_ time: UInt64) { (self.time, self.unsentBefore) = (time, .max) }

    mutating func clear() { self.time = .max }

    /// The deadline was reached: moves on to another one if the peer has read a part of its output meanwhile.
    /// - Parameter unsent: the output that it has not read, bytes.
    /// - Returns: false when it has not; nothing to read is no progress either.
    mutating func moves(to time: UInt64, unsent: Int) -> Bool {
        guard unsent > 0, unsent <= self.unsentBefore - Self.leastProgress else { return false }
        (self.time, self.unsentBefore) = (time, unsent)
        return true
    }
}
