/// One field of a thrown element: how it leaves the hand, and its way to where it comes to rest.
struct Flight {
    let start: Double
    /// Of the hand, units a second.
    let velocity: Double
    let decay: Decay
    /// What counts as a unit of speed: see `ElementField.motionUnit`.
    let unit: Double
    /// Below this change nothing can be seen to move.
    let stillness: Double
    /// How far it may rest from where it flies and be there.
    let rounding: Double
    /// Between which it may be.
    let walls: ClosedRange<Double>
    /// Whether constraints hold it: then it does not fly.
    let isHeld: Bool

    /// A coordinate of an element that a transform has just set.
    init(_ field: ElementField, of one: ThrownElement, velocity: Double, _ decay: Decay) {
        let element = one.element
        let (stored, axis) = (element[field] ?? 0, element.constraints?.axis)
        self.start = one.fields[field] == nil ? one.shown[field] ?? stored : stored
        self.velocity = velocity
        self.decay = decay
        self.unit = field.motionUnit(in: element.space)
        self.stillness = field.stillness * self.unit
        // With room for the rounding of large positions.
        self.rounding = element.space == .canvas ? 0.500001 : Self.roundingOfDoubles
        self.walls = PositionRule.walls(of: element, field)
        self.isHeld = axis != nil && (axis == .x) != (field == .positionX)
    }

    init(degrees: Double, velocity: Double, _ decay: Decay) {
        self.start = degrees
        self.velocity = velocity
        self.decay = decay
        self.unit = 1
        self.stillness = ElementField.rotation.stillness
        self.rounding = Self.roundingOfDoubles
        self.walls = -.infinity ... .infinity
        self.isHeld = false
    }

    private static let roundingOfDoubles = 1e-9

    private var speed: Double { self.velocity.magnitude }
    private var sign: Double { self.velocity < 0 ? -1 : 1 }

    /// −ln(rate), a ms.
    private var k: Double { -logarithm(self.decay.rate) }

    /// How far the hand throws it: the integral of speed · rate^t until it is slower than a unit a second. Signed.
    var way: Double { self.speed > self.unit ? self.sign * (self.speed - self.unit) / (1000 * self.k) : 0 }

    /// The part of a way until the wall ahead; none from beyond it.
    func untilWall(_ way: Double) -> Double {
        if self.isHeld { return way }
        let room = way < 0 ? self.start - self.walls.lowerBound : self.walls.upperBound - self.start
        return (way < 0 ? -1 : 1) * min(way.magnitude, max(room, 0))
    }

    /// The track to where it is stored; nil when nothing can be seen to move.
    /// - Parameters:
    ///   - rest: the stored value; an angle unwrapped.
    ///   - stopped: the way until a wall, if one is in the way.
    ///   - bounce: the share of the speed with which that is left.
    func track(to rest: Double, stopped: Double? = nil, bounce: Double = 0, at time: Double) -> Track? {
        let segments = self.segments(to: rest, stopped, bounce)
        return segments.isEmpty ? nil : Track(startedAt: time, segments: segments)
    }

    private func segments(to rest: Double, _ stopped: Double?, _ bounce: Double) -> [Segment] {
        func isRest(_ way: Double) -> Bool { (self.start + way - rest).magnitude <= self.rounding }
        if !self.isHeld, self.speed > self.unit, self.walls.contains(self.start) {
            if isRest(self.way) {
                return self.flown(to: rest, ms: logarithm(self.speed / self.unit) / self.k)
            }
            if let stopped, isRest(stopped), stopped * self.way >= 0, stopped.magnitude < self.way.magnitude {
                return self.bounced(off: rest, after: stopped.magnitude, bounce)
            }
        }
        let pull = Spring(response: 0.5, damping: 0.825, velocity: self.isHeld ? 0 : self.velocity)
        return self.sprung(pull, from: self.start, to: rest)
    }

    private func flown(to rest: Double, ms: Double) -> [Segment] {
        guard (rest - self.start).magnitude >= self.stillness, ms > 0 else { return [] }
        return [Segment(from: self.start, to: rest, ms: ms, curve: .decay(self.decay))]
    }

    /// It flies until the wall, for −ln(1 − 1000 k · way / speed) / k, and a spring brings it back there.
    private func bounced(off wall: Double, after way: Double, _ bounce: Double) -> [Segment] {
        let lost = 1000 * self.k * way
        let flight = self.flown(to: wall, ms: -logarithm(1 - lost / self.speed) / self.k)
        let back = Spring(response: 0.5, damping: 1, velocity: -self.sign * bounce * (self.speed - lost))
        return flight + self.sprung(back, from: flight.isEmpty ? self.start : wall, to: wall)
    }

    private func sprung(_ spring: Spring, from start: Double, to end: Double) -> [Segment] {
        Segment(from: start, to: end, settling: spring, epsilon: self.stillness).map { [$0] } ?? []
    }
}
