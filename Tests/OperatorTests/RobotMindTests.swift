import Canvas
import Testing

@testable import OperatorDaemon

@Suite struct RobotMindTests {
    private static let area = Rect(x: 100, y: 50, width: 1000, height: 700)

    /// A robot's life among elements that do what it wants, and what it did.
    private static func life(seed: UInt64, deeds: Int, notes: Int = 8) -> (deeds: [RobotDeed], elements: [Element]) {
        var mind = RobotMind(area: Self.area, notes: notes, random: CountingGenerator(state: seed))
        var elements: [Element] = []
        var done: [RobotDeed] = []
        for number in 0..<deeds {
            let deed = mind.next(seeing: elements)
            done.append(deed)
            switch deed {
            case .create(let point):
                var element = Element(id: "e\(number)", type: "note", createdBy: "robot")
                (element.positionX, element.positionY) = (point.x, point.y)
                element.locked = number % 5 == 4
                elements.append(element)
            case .move(let ids, let stroke):
                if let first = elements.first(where: { $0.id == ids[0] }) { mind.moved(by: mind.reach(for: first)) }
                Self.move(ids, by: stroke, in: &elements)
                mind.moved(by: stroke)
            case .point(let stroke): mind.moved(by: stroke)
            case .rest, .select, .undo: break
            }
        }
        return (done, elements)
    }

    private static func move(_ ids: [String], by stroke: Stroke, in elements: inout [Element]) {
        let fields = stroke.fields(after: stroke.duration)
        for index in elements.indices where ids.contains(elements[index].id) {
            elements[index].positionX += fields.translation?.x ?? 0
            elements[index].positionY += fields.translation?.y ?? 0
            elements[index].scaleX *= fields.scale?.x ?? 1
            elements[index].scaleY *= fields.scale?.y ?? 1
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aRobotDoesEverythingAndStaysInItsArea(seed: UInt64) {
        let (deeds, elements) = Self.life(seed: seed, deeds: 2000)
        let locked = Set(elements.filter(\.locked).map(\.id))
        var kinds: Set<String> = []
        for deed in deeds {
            kinds.insert(String("\(deed)".prefix { $0 != "(" }))
            guard case .move(let ids, let stroke) = deed else { continue }
            if ids.count > 1 { kinds.insert("group") }
            if stroke.turn != 0 { kinds.insert("turn") }
            if stroke.factor != 1 { kinds.insert("size") }
            #expect(locked.isDisjoint(with: ids), "seed \(seed)")
        }
        #expect(
            kinds == ["rest", "point", "create", "move", "select", "undo", "group", "turn", "size"], "seed \(seed)")
        #expect(elements.count == 8, "seed \(seed)")
        // Those that moved along as neighbours may leave it by as much as they lay beside the first.
        let wide = Rect(x: -1000, y: -1000, width: 4000, height: 4000)
        for element in elements {
            #expect(wide.contains(Point(x: element.positionX, y: element.positionY)), "seed \(seed)")
            #expect(element.scaleX > 0.2 && element.scaleX < 5, "seed \(seed)")
        }
    }

    @Test func theSameSeedDoesTheSame() {
        #expect(Self.life(seed: 9, deeds: 100).deeds == Self.life(seed: 9, deeds: 100).deeds)
        #expect(Self.life(seed: 9, deeds: 100).deeds != Self.life(seed: 10, deeds: 100).deeds)
    }

    @Test func aStrokeGoesFromRestToRest() throws {
        let stroke = Stroke(translation: Point(x: 300, y: -40), bend: 0.1, turn: 90, factor: 2, duration: 0.8)
        let start = stroke.fields(after: 0)
        #expect(start.translation == .zero && start.rotation == 0 && start.scale == Point(x: 1, y: 1))
        for end in [0.8, 2] {
            let fields = stroke.fields(after: end)
            #expect(fields.translation == Point(x: 300, y: -40))
            #expect(fields.rotation == 90 && fields.scale == Point(x: 2, y: 2))
        }
        let steps = (0...80).map { stroke.fields(after: Double($0) / 100).rotation ?? 0 }
        #expect(zip(steps, steps.dropFirst()).allSatisfy(<=))
        // The first and the last hundredth are slower than the middle.
        #expect(steps[1] - steps[0] < (steps[41] - steps[40]) / 100)
        #expect(steps[80] - steps[79] < (steps[41] - steps[40]) / 100)
        // Half way it is beside the line, by a tenth of its length.
        let middle = try #require(stroke.fields(after: 0.4).translation)
        #expect(abs(middle.x - 154) < 1e-9 && abs(middle.y - 10) < 1e-9)
    }

    @Test func aStrokeOfOneFingerNeitherTurnsNorScales() {
        let fields = Stroke(translation: Point(x: 1, y: 1), duration: 1).fields(after: 0.5)
        #expect(fields.rotation == nil && fields.scale == nil)
    }
}

/// A generator whose numbers its state says.
private struct CountingGenerator: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let mixed = (self.state ^ self.state >> 33) &* 0xFF51_AFD7_ED55_8CCD
        return mixed ^ mixed >> 33
    }
}
