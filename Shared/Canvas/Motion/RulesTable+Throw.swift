/// An element that is thrown, alone or with others.
public struct ThrownElement: Sendable {
    /// It before, and where it comes to rest afterwards.
    public var element: Element
    /// What the hand showed of it when it let go, as sent.
    public let fields: TransformFields
    /// Where fields start that were not sent: what is shown of positions and rotation, less what an animation adds. What
    /// is absent starts where it is stored.
    public let shown: TransformFields
    /// The new tracks. A field that flies and has none jumps to where it is stored.
    public fileprivate(set) var tracks = ByField<Track>()
    /// Which values that were sent are clamped.
    public fileprivate(set) var adjusted: [Adjustment] = []

    /// An element before it is thrown.
    public init(_ element: Element, fields: TransformFields, shown: TransformFields) {
        self.element = element
        self.fields = fields.usable
        self.shown = shown.usable
    }
}

extension RulesTable {
    /// Throws elements: one, or a group with one way. Of a group the first element snaps, the wall nearest ahead of a
    /// member stops all, and then each obeys its own rules; clamped velocities stand in what is adjusted of the first.
    ///
    /// Each starts with what was sent, under the rules as in a preview. It rests where it would fly, moved by `snap`, as the
    /// rules of a transform allow. The caller checks locks, maintains `rev` and `updatedBy`, and refuses annotations in
    /// groups.
    /// - Parameter time: when they start, ms since 1970 of the server's clock.
    public func apply(_ request: Throw, to thrown: inout [ThrownElement], at time: Double) {
        guard !thrown.isEmpty else { return }
        for index in thrown.indices {
            thrown[index].adjusted = self.apply(thrown[index].fields, to: &thrown[index].element)
        }
        let decay = Decay(rate: request.rate)
        let velocity = Point(
            x: Self.velocity(request.velocity.x, "velocity.x", .positionX, &thrown[0]),
            y: Self.velocity(request.velocity.y, "velocity.y", .positionY, &thrown[0]))
        let xs = thrown.map { Flight(.positionX, of: $0, velocity: velocity.x, decay) }
        let ys = thrown.map { Flight(.positionY, of: $0, velocity: velocity.y, decay) }
        let way = Self.way(xs[0], ys[0], request.snap)
        let stopped = Point(x: Self.untilWall(xs, way.x), y: Self.untilWall(ys, way.y))
        for index in thrown.indices {
            let (x, y) = (xs[index], ys[index])
            // The rules stop one that is alone.
            let own = thrown.count == 1 ? way : stopped
            _ = self.apply(
                TransformFields(positionX: x.start + own.x, positionY: y.start + own.y), to: &thrown[index].element)
            let rest = Point(x: thrown[index].element.positionX, y: thrown[index].element.positionY)
            thrown[index].tracks[.positionX] = x.track(
                to: rest.x, stopped: stopped.x == way.x ? nil : stopped.x, bounce: request.bounce, at: time)
            thrown[index].tracks[.positionY] = y.track(
                to: rest.y, stopped: stopped.y == way.y ? nil : stopped.y, bounce: request.bounce, at: time)
        }
        if thrown.count == 1, let angular = request.angularVelocity { self.turn(&thrown[0], angular, decay, at: time) }
    }

    /// How far the first element would fly, to where it snaps.
    private static func way(_ x: Flight, _ y: Flight, _ snap: Throw.Snap?) -> Point {
        let way = Point(x: x.way, y: y.way)
        guard let snap else { return way }
        let start = Point(x: x.start, y: y.start)
        let place = start + way
        let snapped = snap.place(near: place)
        // What does not snap flies as far as without.
        return Point(
            x: snapped.x == place.x ? way.x : snapped.x - start.x, y: snapped.y == place.y ? way.y : snapped.y - start.y
        )
    }

    /// The part of a common way until the first wall.
    private static func untilWall(_ flights: [Flight], _ way: Double) -> Double {
        flights.reduce(way) { way, flight in flight.untilWall(way) }
    }

    private func turn(_ one: inout ThrownElement, _ sent: Double, _ decay: Decay, at time: Double) {
        guard self.rules(for: one.element.type).rotates else {
            return one.adjusted.note("angularVelocity", sent, 0, .rotation)
        }
        let velocity = Self.velocity(sent, "angularVelocity", .rotation, &one)
        let stored = one.element.rotation
        let start = one.fields.rotation == nil ? Angle(degrees: one.shown.rotation ?? stored).degrees : stored
        let flight = Flight(degrees: start, velocity: velocity, decay)
        let place = start + flight.way
        _ = self.apply(TransformFields(rotation: place), to: &one.element)
        // The stored angle with the turns of the flight.
        let rest = place + Angle(degrees: place).shortestTurn(to: Angle(degrees: one.element.rotation))
        one.tracks[.rotation] = flight.track(to: rest, at: time)
    }

    private static func velocity(
        _ sent: Double, _ name: String, _ field: ElementField, _ one: inout ThrownElement
    ) -> Double {
        field.clampedVelocity(sent, name, field.motionUnit(in: one.element.space), &one.adjusted)
    }
}
