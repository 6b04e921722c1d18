internal import Canvas

/// Decides what a robot does next, from what it sees, as people do who sort notes on a wall: mostly it moves one, often
/// with a turn, now and then several; it adds notes as long as there are few.
struct RobotMind<Random: RandomNumberGenerator & Sendable>: Sendable {
    /// Where robots work, pixels of the canvas.
    let area: Rect
    /// Robots add notes until the room has so many elements.
    let notes: Int
    private var random: Random
    /// Where the hand is, pixels of the canvas.
    private(set) var hand: Point

    init(area: Rect, notes: Int, random: Random) {
        self.area = area
        self.notes = notes
        self.random = random
        self.hand = area.center
        self.hand = self.somewhere()
    }

    /// The next deed.
    /// - Parameter elements: what it sees and may take, in any order.
    mutating func next(seeing elements: [Element]) -> RobotDeed {
        let free = elements.filter { !$0.locked && $0.space == .canvas }
        if elements.count < self.notes, free.count < 2 || self.chance(0.2) { return .create(self.somewhere()) }
        guard let one = free.randomElement(using: &self.random) else { return .rest(1) }
        return switch Double.random(in: 0..<1, using: &self.random) {
        case ..<0.5: self.move([one])
        case ..<0.6: self.move(self.neighbours(of: one, among: free))
        case ..<0.75: .point(self.stroke(to: self.somewhere()))
        case ..<0.82: .select([one.id])
        case ..<0.87: .undo
        default: .rest(.random(in: 0.3...2, using: &self.random))
        }
    }

    /// The way to an element before it is taken.
    mutating func reach(for element: Element) -> Stroke {
        self.stroke(to: Point(x: element.positionX, y: element.positionY))
    }

    mutating func moved(by stroke: Stroke) { self.hand = self.hand + stroke.translation }

    private mutating func move(_ elements: [Element]) -> RobotDeed {
        let position = Point(x: elements[0].positionX, y: elements[0].positionY)
        var stroke = self.stroke(from: position, to: self.somewhere())
        if self.chance(0.4) { stroke.turn = .random(in: -90...90, using: &self.random) }
        if self.chance(0.3) { stroke.factor = self.factor(for: elements[0]) }
        return .move(elements.map(\.id), stroke)
    }

    /// Towards a size that people can still read and take.
    private mutating func factor(for element: Element) -> Double {
        .random(in: 0.6...1.6, using: &self.random) / max(abs(element.scaleX), 0.1)
    }

    /// The elements next to one, with it as the first.
    private func neighbours(of one: Element, among elements: [Element]) -> [Element] {
        let reach = 250.0
        let near = elements.filter {
            $0.id != one.id && abs($0.positionX - one.positionX) < reach
                && abs($0.positionY - one.positionY) < reach
        }
        return [one] + near.prefix(5)
    }

    private mutating func stroke(to target: Point) -> Stroke { self.stroke(from: self.hand, to: target) }

    /// The time that a hand needs grows with the way.
    private mutating func stroke(from start: Point, to end: Point) -> Stroke {
        let way = end - start
        let length = (way.x * way.x + way.y * way.y).squareRoot()
        return Stroke(
            translation: way, bend: .random(in: -0.15...0.15, using: &self.random),
            duration: 0.3 + length / .random(in: 500...1200, using: &self.random))
    }

    private mutating func somewhere() -> Point {
        Point(
            x: self.area.origin.x + .random(in: 0...self.area.size.width, using: &self.random),
            y: self.area.origin.y + .random(in: 0...self.area.size.height, using: &self.random))
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self.random) < share }
}

/// What a robot does next.
enum RobotDeed: Equatable {
    /// Looks, and does nothing, for so many seconds.
    case rest(Double)
    /// Points somewhere: the cursor moves there as a stroke says.
    case point(Stroke)
    /// Puts a note somewhere, pixels of the canvas.
    case create(Point)
    case move([String], Stroke)
    case select([String])
    /// Takes its last edit back.
    case undo
}

/// One movement of a hand, from rest to rest: along a path that bends a little, with two fingers a turn and another size
/// as well.
struct Stroke: Equatable {
    /// From where it begins to where it ends, pixels.
    var translation: Point
    /// How far the path leaves the straight line in its middle, as a share of its length; positive to the right.
    var bend = 0.0
    /// Clockwise degrees.
    var turn = 0.0
    /// The factor of both scales.
    var factor = 1.0
    /// Seconds.
    var duration: Double

    /// What the fingers did after so many seconds.
    func fields(after seconds: Double) -> GestureFields {
        let progress = Self.progress(seconds / self.duration)
        var fields = GestureFields()
        fields.translation = self.offset(at: progress)
        if self.turn != 0 { fields.rotation = self.turn * progress }
        if self.factor != 1 {
            let factor = 1 + (self.factor - 1) * progress
            fields.scale = Point(x: factor, y: factor)
        }
        return fields
    }

    private func offset(at progress: Double) -> Point {
        let aside = Point(x: -self.translation.y, y: self.translation.x) * (self.bend * 4 * progress * (1 - progress))
        return self.translation * progress + aside
    }

    /// The share of the way after a share of the time: people move so that the jerk is least, 10τ³ − 15τ⁴ + 6τ⁵ (Flash
    /// and Hogan, "The coordination of arm movements", Journal of Neuroscience 5, 1985).
    private static func progress(_ time: Double) -> Double {
        let time = min(max(time, 0), 1)
        return time * time * time * (10 - 15 * time + 6 * time * time)
    }
}
