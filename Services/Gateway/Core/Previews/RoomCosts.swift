import Timing
import Wire

/// What the previews of rooms cost lately, in deliveries: they are halved with every window, so that they are of two
/// windows in the long run. Nothing is counted as long as all is well.
struct RoomCosts {
    /// Each room's deliveries.
    private(set) var byRoom: [Identifier: Int] = [:]
    /// The most that all rooms have cost together since the gateway began to be late.
    private(set) var most = 0
    private var isMetering = false
    /// How many windows they are of, those that count half as half ones: 1, 1.5, 1.75 … 2.
    private var windows = 0.0
    /// What all rooms would cost at full pace, at most, by the previews that come.
    private var offered = 0
    /// Since when that is little.
    private var lightSince: Instant?

    /// What all rooms cost together.
    var total: Int { self.byRoom.values.reduce(0, +) }

    /// The same, as it would be counted for long.
    private var lastingTotal: Int { Int(Double(self.total) * 2 / max(1, self.windows)) }

    /// A room's previews were delivered.
    mutating func delivered(_ deliveries: Int, of room: Identifier) {
        if self.isMetering { self.byRoom[room, default: 0] += deliveries }
    }

    /// Counts the deliveries that an incoming preview would make at full pace.
    mutating func offered(_ deliveries: Int) { self.offered += deliveries }

    /// A room costs that much from now on, not only when the windows before are forgotten.
    mutating func expect(_ cost: Int, of room: Identifier) { self.byRoom[room] = cost }

    /// The room has no members any more.
    mutating func forget(_ room: Identifier) {
        if !self.byRoom.isEmpty { self.byRoom[room] = nil }
    }

    /// What rooms cost now is the first that was too much.
    mutating func overloadBegan() { self.most = self.lastingTotal }

    /// A window is over.
    /// - Parameter isOverloaded: rooms are slowed down.
    mutating func windowEnded(isOverloaded: Bool, at now: Instant) {
        if isOverloaded { self.most = max(self.most, self.lastingTotal) }
        self.lightSince = self.offered < self.most / 2 ? self.lightSince ?? now : nil
    }

    /// Whether little has come for a time: less than half of the most, if it were delivered at full pace.
    func wereLight(for time: Nanoseconds, at now: Instant) -> Bool {
        self.lightSince.map { now >= $0 + time } ?? false
    }

    /// The next window begins.
    /// - Parameter isMetering: costs are counted, from the first sign of lateness on and for as long as it matters.
    mutating func windowBegins(isMetering: Bool) {
        self.isMetering = isMetering
        self.windows = isMetering ? self.windows / 2 + 1 : 0
        self.offered /= 2
        self.byRoom = isMetering ? self.byRoom.compactMapValues { $0 > 1 ? $0 / 2 : nil } : [:]
    }
}
