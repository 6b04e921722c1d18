import Canvas
import Testing
import Wire

@Suite struct GestureTests {
    @Test(arguments: [141, 142] as [UInt64])
    func oneAfterTheOtherIsTheirComposition(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let (first, second, third) = (inventor.gesture(), inventor.gesture(), inventor.gesture())
            let both = shown(first.followed(by: second), on: note)
            let inTurn = shown(second, on: shown(first, on: note))
            #expect(isClose(both.corners(), inTurn.corners()), "seed \(seed): \(first), \(second) on \(note)")
            let left = first.followed(by: second).followed(by: third)
            let right = first.followed(by: second.followed(by: third))
            #expect(isClose(shown(left, on: note).corners(), shown(right, on: note).corners()), "seed \(seed)")
            #expect(first.followed(by: Gesture()) == first && Gesture().followed(by: first) == first, "seed \(seed)")
        }
    }

    @Test func dragsAddPinchesMultiplyRotationsAdd() {
        #expect(
            Gesture.drag(Point(x: 1, y: 2)).followed(by: .drag(Point(x: 3, y: 4))) == .drag(Point(x: 4, y: 6)))
        #expect(Gesture.pinch(2).followed(by: .pinch(3)) == .pinch(6))
        #expect(Gesture.turn(degrees: 270).followed(by: .turn(degrees: 180)) == .turn(degrees: 450))
    }

    @Test func anElementAcceptsTheGesturesOfItsKind() throws {
        let all = Gesture.drag(Point(x: 1, y: 2)).followed(by: .pinch(2)).followed(by: .turn(degrees: 3))
        #expect(all.limited(to: .draggable) == .drag(Point(x: 1, y: 2)))
        #expect(all.limited(to: .pinchable) == .pinch(2))
        #expect(all.limited(to: .rotatable) == .turn(degrees: 3))
        #expect(all.limited(to: .all) == all)
        var (note, _) = try created("note")
        #expect(rules.gestures(on: note) == .all)
        note.locked = true
        #expect(rules.gestures(on: note) == [])
        let (audio, _) = try created("audio")
        #expect(rules.gestures(on: audio) == [.draggable, .pinchable])
    }

    @Test(arguments: notFinite)
    func numbersThatAreNotFiniteAreRefused(number: Double) throws {
        let (note, _) = try created("note")
        var hand = GestureTracker(of: note, anchor: Point(x: number, y: 0))
        let untouched = hand
        #expect(hand == GestureTracker(of: note))
        let isAccepted = [
            hand.drag(to: Point(x: number, y: 0)), hand.drag(to: Point(x: 0, y: number)), hand.pinch(to: number),
            hand.rotate(to: number),
        ]
        #expect(isAccepted == [false, false, false, false])
        #expect(hand == untouched)
        #expect(!Gesture.pinch(number).isFinite && !Gesture.turn(degrees: number).isFinite)
    }

    @Test(arguments: [143, 144] as [UInt64])
    func everyFiniteReportKeepsAHandFinite(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            let note = inventor.note()
            var hand = GestureTracker(of: note, anchor: inventor.chance(50) ? inventor.anyPoint() : nil)
            for _ in 0..<8 {
                switch Int.random(in: 0..<4, using: &inventor.generator) {
                case 0: hand.drag(to: inventor.anyPoint())
                case 1: hand.pinch(to: inventor.anyNumber())
                case 2: hand.rotate(to: inventor.anyNumber())
                default: hand.end(GestureKinds(rawValue: UInt8(truncatingIfNeeded: inventor.generator.next()) & 7))
                }
                #expect(hand.gesture.isFinite, "seed \(seed): \(hand)")
                #expect(hand.drawn(under: rules).pose.isFinite, "seed \(seed): \(hand)")
            }
        }
    }
}

@Suite struct GestureTrackerTests {
    @Test func theRecognizersOfOneHandRunAtTheSameTime() throws {
        let (note, _) = try created("note", #""positionX":10,"positionY":20,"rotation":350"#)
        var hand = GestureTracker(of: note)
        hand.drag(to: Point(x: 1, y: 1))
        hand.pinch(to: 1.5)
        hand.rotate(to: 10)
        hand.drag(to: Point(x: 5, y: -5))
        hand.pinch(to: 2)
        hand.rotate(to: 20)
        #expect(
            hand.fields(under: rules)
                == TransformFields(positionX: 15, positionY: 15, rotation: 10, scaleX: 2, scaleY: 2))
        #expect(hand.drawn(under: rules).pose.position == Point(x: 15, y: 15))
    }

    @Test func aRecognizerThatBeginsAgainContinuesWhereItEnded() throws {
        let (note, _) = try created("note")
        var hand = GestureTracker(of: note)
        hand.drag(to: Point(x: 10, y: 0))
        hand.pinch(to: 2)
        hand.end(.pinchable)
        #expect(hand.gesture == Gesture.drag(Point(x: 10, y: 0)).followed(by: .pinch(2)))
        // The drag goes on, the second pinch begins at 1.
        hand.drag(to: Point(x: 12, y: 0))
        hand.pinch(to: 1)
        hand.pinch(to: 1.5)
        #expect(hand.gesture == Gesture.drag(Point(x: 12, y: 0)).followed(by: .pinch(3)))
        hand.end(.all)
        hand.drag(to: Point(x: 1, y: 1))
        #expect(hand.gesture == Gesture.drag(Point(x: 13, y: 1)).followed(by: .pinch(3)))
    }

    @Test func whatAHandDoesNotTouchIsNotSent() throws {
        let (note, _) = try created("note", #""anchorX":0"#)
        var hand = GestureTracker(of: note, anchor: AnchorPoint.bottom.unitPoint)
        #expect(hand.fields(under: rules).isEmpty)
        hand.drag(to: Point(x: 3, y: 0))
        #expect(hand.fields(under: rules) == TransformFields(positionX: 3))
        var other = GestureTracker(of: note)
        other.rotate(to: 30)
        #expect(other.fields(under: rules) == TransformFields(rotation: 30))
        var still = GestureTracker(of: note, kinds: .draggable)
        still.pinch(to: 2)
        still.rotate(to: 9)
        #expect(still.fields(under: rules).isEmpty)
    }

    @Test func whatIsSentObeysTheRules() throws {
        let (photo, _) = try created("photo", #""scaleX":4,"scaleY":4"#)
        var hand = GestureTracker(of: photo)
        hand.pinch(to: 3)
        #expect(hand.fields(under: rules) == TransformFields(scaleX: 5, scaleY: 5))
        let (audio, _) = try created("audio")
        hand = GestureTracker(of: audio)
        hand.rotate(to: 45)
        #expect(hand.fields(under: rules) == TransformFields(rotation: 0))
    }

    @Test(arguments: [145, 146] as [UInt64])
    func thePointBetweenTheFingersStaysThere(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let anchor = inventor.point(0...1)
            let held = try #require(note.anchored(at: anchor)).pose.position
            var hand = GestureTracker(of: note, anchor: anchor)
            // Far beyond the range of the scale, too.
            hand.pinch(to: inventor.uniform(0.01...20))
            hand.rotate(to: inventor.uniform(-400...400))
            let drag = inventor.point(-100...100)
            hand.drag(to: drag)
            let drawn = hand.drawn(under: rules)
            let now = try #require(drawn.anchored(at: anchor)).pose.position
            #expect(isClose(now, held + drag, within: 1e-8), "seed \(seed): \(note) at \(anchor)")
            // The anchor on the server has not changed.
            #expect((drawn.anchorX, drawn.anchorY) == (note.anchorX, note.anchorY), "seed \(seed)")
        }
    }

    @Test(arguments: [147, 148] as [UInt64])
    func absoluteValuesAndDeltasHaveTheSameResult(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            var hand = GestureTracker(of: note, anchor: inventor.chance(70) ? inventor.point(0...1) : nil)
            if inventor.chance(70) { hand.pinch(to: inventor.uniform(0.5...2)) }
            if inventor.chance(70) { hand.rotate(to: inventor.uniform(-400...400)) }
            if inventor.chance(70) { hand.drag(to: inventor.point(-100...100)) }
            let drawn = hand.drawn(under: rules)
            var stored = note
            _ = rules.apply(hand.gesture, to: &stored)
            // The server rounds the position, on each axis to the nearest whole pixel.
            for (onScreen, onServer) in zip(drawn.corners(), stored.corners()) {
                #expect(
                    (onScreen.x - onServer.x).magnitude < 0.51 && (onScreen.y - onServer.y).magnitude < 0.51,
                    "seed \(seed): \(hand)")
            }
        }
    }

    @Test(arguments: [149, 150] as [UInt64])
    func twoPeoplesGesturesComposeFieldByField(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            var (one, other) = (GestureTracker(of: note), GestureTracker(of: note))
            one.drag(to: inventor.point(-100...100))
            other.rotate(to: inventor.uniform(1...359))
            other.pinch(to: inventor.uniform(1.1...2))
            let (moved, turned) = (one.fields(under: rules), other.fields(under: rules))
            var (first, last) = (moved, turned)
            first.merge(turned)
            last.merge(moved)
            #expect(first == last, "seed \(seed): in either order")
            #expect((first.positionX, first.positionY) == (moved.positionX, moved.positionY), "seed \(seed)")
            #expect((first.rotation, first.scaleX) == (turned.rotation, turned.scaleX), "seed \(seed)")
            // Where both touch a field, the latest wins, and the rest is left as it was.
            one.rotate(to: 77)
            first.merge(one.fields(under: rules))
            #expect(
                first.rotation == one.fields(under: rules).rotation && first.scaleX == turned.scaleX, "seed \(seed)")
        }
    }
}

extension Inventor {
    fileprivate mutating func gesture() -> Gesture {
        var gesture = Gesture()
        if self.chance(70) { gesture.translation = self.point(-100...100) }
        if self.chance(70) { (gesture.scaleX, gesture.scaleY) = (self.uniform(0.5...2), self.uniform(0.5...2)) }
        if self.chance(70) { gesture.rotation = self.uniform(-400...400) }
        return gesture
    }
}

/// The element after a gesture, without any rule.
private func shown(_ gesture: Gesture, on element: Element) -> Element {
    let fields = gesture.fields(on: element)
    var result = element
    result.pose = Pose(
        position: Point(x: fields.positionX ?? element.positionX, y: fields.positionY ?? element.positionY),
        rotation: Angle(degrees: fields.rotation ?? element.rotation), scaleX: fields.scaleX ?? element.scaleX,
        scaleY: fields.scaleY ?? element.scaleY)
    return result
}
