import Canvas
import Testing
import TouchSyncClientCore

@testable import TouchSyncClient

@Suite struct ElementStackTests {
    private var stack = ElementStack([Self.note("b", level: -1), Self.note("a"), Self.note("c")])

    @Test mutating func movedElementStaysInItsPlace() {
        #expect(self.update(["a"], [Self.note("a", x: 5)]) == true)
        #expect(self.stack.elements.map(\.id) == ["b", "a", "c"] && self.stack.elements[1].positionX == 5)
    }

    @Test mutating func nothingDiffers() {
        #expect(self.update(["a", "gone"], [Self.note("a")]) == false)
    }

    @Test mutating func elementsComeAndGo() {
        #expect(self.update(["a", "aa", "d"], [Self.note("d"), Self.note("aa", level: 0)]) == true)
        #expect(self.stack.elements.map(\.id) == ["b", "aa", "c", "d"])
        #expect(self.update(["c"], [Self.note("c", x: 7)]) == true)
        #expect(self.stack.elements.map(\.positionX) == [0, 0, 7, 0], "it is found where it is now")
    }

    @Test mutating func anotherLevelIsAnotherPlace() {
        #expect(self.update(["b"], [Self.note("b", level: 1)]) == true)
        #expect(self.stack.elements.map(\.id) == ["a", "c", "b"])
        #expect(self.update(["b"], [Self.note("b")]) == true)
        #expect(self.stack.elements.map(\.id) == ["a", "b", "c"])
    }

    /// A frame costs what changes in it, not what the room has.
    @Test(.timeLimit(.minutes(1))) mutating func oneOfManyIsReplacedInConstantTime() {
        self.stack = ElementStack((10_000..<60_000).map { Self.note("\($0)") })
        for number in 10_000..<60_000 { _ = self.update(["\(number)"], [Self.note("\(number)", x: 1)]) }
        #expect(self.stack.elements.allSatisfy { $0.positionX == 1 })
    }

    /// Whether anything differed.
    private mutating func update(_ ids: [String], _ elements: [Element]) -> Bool {
        let changes = self.stack.changes(of: Set(ids.map(TextKey.init)), to: elements)
        self.stack.apply(changes)
        return !changes.isEmpty
    }

    private static func note(_ id: String, level: Double? = nil, x: Double = 0) -> Element {
        var element = Element(id: id, type: "note", createdBy: "ada")
        (element.zIndex, element.positionX) = (level, x)
        return element
    }
}
