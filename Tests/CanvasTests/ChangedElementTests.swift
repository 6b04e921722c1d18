import Canvas
import Testing

/// Taking a change of an element back after others may have changed it, too.
@Suite struct ChangedElementTests {
    private static let before: Element = {
        var element = Element(id: "e", type: "note", createdBy: "ann")
        element.extra = [ExtraField(name: "mine", json: [49])]
        return element
    }()

    private static func changed(_ change: (inout Element) -> Void) -> Element {
        var element = Self.before
        change(&element)
        return element
    }

    private static func reverted(
        _ now: Element, from after: Element, to before: Element = Self.before, hasLockedAspect: Bool = false
    ) -> Element {
        var element = now
        ChangedElement(before: before, after: after).undo(in: &element, hasLockedAspect: hasLockedAspect)
        return element
    }

    private static func obstacle(
        _ now: Element, from after: Element, to before: Element = Self.before
    ) -> UndoObstacle? {
        var element = now
        return ChangedElement(before: before, after: after).undo(in: &element, hasLockedAspect: false)
    }

    @Test func everyFieldComesBack() {
        let after = Self.changed { element in
            (element.positionX, element.positionY, element.rotation) = (1, 2, 3)
            (element.scaleX, element.scaleY, element.anchorX, element.anchorY) = (-2, 3, 0, 1)
            (element.originalWidth, element.originalHeight) = (40, 50)
            (element.snapDegrees, element.fontSize, element.zIndex) = (45, 20, 7)
            element.bounds = Bounds(x: 0, y: 0, width: 9, height: 9)
            element.extra = [ExtraField(name: "mine", json: [50]), ExtraField(name: "new", json: [51])]
        }
        #expect(Self.reverted(after, from: after) == Self.before)
        #expect(Self.reverted(Self.before, from: Self.before, to: after) == after)
    }

    @Test func whatOthersSetSinceStays() {
        let after = Self.changed { ($0.positionX, $0.rotation, $0.zIndex) = (5, 90, 1) }
        var now = after
        (now.positionX, now.zIndex) = (6, 2)
        let element = Self.reverted(now, from: after)
        #expect(element.positionX == 6 && element.zIndex == 2 && element.rotation == 0)
    }

    @Test func whatTheChangeDidNotSetStays() {
        let after = Self.changed { $0.rotation = 90 }
        var now = after
        now.positionX = 6
        #expect(Self.reverted(now, from: after).positionX == 6)
    }

    @Test func scalesUnderAnAspectLockComeBackTogether() {
        let after = Self.changed { ($0.scaleX, $0.scaleY) = (2, 2) }
        var now = after
        now.scaleX = -2
        #expect(Self.reverted(now, from: after, hasLockedAspect: true).scaleY == 2)
        #expect(Self.reverted(now, from: after).scaleY == 1)
        #expect(Self.reverted(after, from: after, hasLockedAspect: true) == Self.before)
    }

    @Test func anAnchorComesBackWithThePositionThatBelongsToIt() {
        let after = Self.changed { ($0.anchorX, $0.positionX) = (0, -50) }
        var now = after
        now.positionX = 7
        let element = Self.reverted(now, from: after)
        #expect(element.anchorX == 0 && element.positionX == 7)
        #expect(Self.reverted(after, from: after) == Self.before)
    }

    @Test func aLockedElementStaysWhereItIsUnlessTheChangeLockedIt() {
        let after = Self.changed { $0.rotation = 90 }
        var locked = after
        (locked.locked, locked.zIndex) = (true, nil)
        #expect(Self.reverted(locked, from: after).rotation == 90)
        #expect(Self.obstacle(locked, from: after) == .locked)
        #expect(Self.obstacle(after, from: after) == nil)
        // Nothing of the change is left, or nothing of it is geometry.
        var turned = locked
        turned.rotation = 45
        #expect(Self.obstacle(turned, from: after) == nil)
        #expect(
            Self.obstacle(Self.changed { ($0.zIndex, $0.locked) = (7, true) }, from: Self.changed { $0.zIndex = 7 })
                == nil)
        let both = Self.changed { ($0.rotation, $0.locked) = (90, true) }
        #expect(Self.reverted(both, from: both) == Self.before)
        #expect(Self.reverted(Self.before, from: Self.before, to: both) == both)
    }

    @Test func ownFieldsThatWouldBeTooLargeTogetherStayAsTheyAre() {
        let large = [UInt8](repeating: 49, count: 5000)
        let before = Self.changed { $0.extra = [ExtraField(name: "a", json: large)] }
        let after = Self.changed { $0.extra = [ExtraField(name: "a", json: [49])] }
        var now = after
        now.extra.append(ExtraField(name: "b", json: large))
        #expect(Self.reverted(now, from: after, to: before).extra == now.extra)
        #expect(Self.obstacle(now, from: after, to: before) == .ownFieldsTooLarge)
        #expect(Self.obstacle(after, from: after, to: before) == nil)
    }

    @Test func aSideThatAnotherHasSetSinceStays() {
        let after = Self.changed { ($0.originalWidth, $0.originalHeight) = (40, 50) }
        var now = after
        now.originalWidth = 70
        let element = Self.reverted(now, from: after, hasLockedAspect: true)
        #expect((element.originalWidth, element.originalHeight) == (70, 100))
        now.locked = true
        #expect(Self.reverted(now, from: after) == now)
    }

    @Test func removedOwnFieldsComeBackToTheirPlaces() {
        let fields = ["a", "b", "c", "d"].map { ExtraField(name: $0, json: [49]) }
        let before = Self.changed { $0.extra = fields }
        let after = Self.changed { $0.extra = [fields[2]] }
        #expect(Self.reverted(after, from: after, to: before) == before)
        var now = after
        now.extra = [ExtraField(name: "b", json: [50]), ExtraField(name: "new", json: [51])]
        let names = Self.reverted(now, from: after, to: before).extra.map(\.name)
        #expect(names == ["a", "b", "new", "d"])
        #expect(Self.reverted(before, from: before, to: after) == after)
    }

    @Test func geometryAndContentDiffer() {
        let moved = ChangedElement(before: Self.before, after: Self.changed { $0.positionY = 1 })
        let renamed = ChangedElement(before: Self.before, after: Self.changed { $0.extra = [] })
        #expect(moved.changesGeometry && !moved.changesContent)
        let resized = ChangedElement(before: Self.before, after: Self.changed { $0.originalHeight = 1 })
        #expect(resized.changesGeometry && !resized.changesContent)
        #expect(!renamed.changesGeometry && renamed.changesContent)
    }
}
