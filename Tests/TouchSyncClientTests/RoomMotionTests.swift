import Canvas
import JSONBytes
import Testing

@testable import TouchSyncClientCore

/// What moves in a room, and where it is drawn, without the room around it.
@Suite struct RoomMotionTests {
    private static let id = TextKey("a")
    private var contents = RoomContents()
    private var outbox = ClientOutbox()
    private var motion = RoomMotion(in: RoomAddress(id: TextKey("demo"), serial: 7), isOn: true)
    private var note: Element

    init() {
        self.note = Element(id: "a", type: "note", createdBy: "ada")
        self.note.positionX = 100
        self.contents.shown[Self.id] = self.note
        self.outbox.begin(at: 1000)
    }

    @Test mutating func aHandThatHoldsAnElementIsNotPulledByOthers() {
        self.preview(x: 500)
        #expect(self.outbox.drain() == [.room("demo", .moving("a"))])
        let frame = Frame(time: 1100, serverTime: nil)
        #expect(self.motion.drawn(Self.id, self.note, isHeld: true, in: frame)?.positionX == 100)
        #expect(self.motion.drawn(Self.id, self.note, isHeld: false, in: frame)?.positionX == 500)
    }

    @Test mutating func anElementWithoutItsGestureMovesToWhereItIsStored() {
        self.preview(x: 500)
        self.outbox.begin(at: 1100)
        let drawn = self.motion.movingPose(of: Self.id, in: self.contents, self.outbox)
        #expect(drawn?.position.x == 500)
        self.motion.end(Self.id, at: self.note, from: drawn, &self.outbox)
        #expect(self.motion.isMoving(Self.id), "it is on its way")
        #expect(
            self.motion.drawn(Self.id, self.note, isHeld: false, in: Frame(time: 3000, serverTime: nil)) == self.note)
        #expect(!self.motion.isMoving(Self.id))
    }

    @Test mutating func aSilentGestureIsOverWhereThisUserLooks() {
        self.preview(x: 500)
        let (there, elsewhere) = (
            Rect(x: 400, y: -50, width: 200, height: 100), Rect(x: 0, y: 0, width: 10, height: 10)
        )
        #expect(self.motion.underWay(in: self.contents, outside: elsewhere) == [Self.id])
        #expect(self.motion.underWay(in: self.contents, outside: there).isEmpty)
        #expect(self.motion.deadline == 3000)
        #expect(self.motion.silent(in: self.contents, outside: elsewhere, at: 3000).isEmpty)
        #expect(self.motion.deadline == 5000, "its end will be heard")
        #expect(self.motion.silent(in: self.contents, outside: there, at: 5000) == [Self.id])
        #expect(self.motion.silent(in: self.contents, outside: nil, at: 5000) == [Self.id])
    }

    @Test mutating func aWaitingEditIsDrawnWhereTheElementWas() {
        var moved = self.note
        moved.positionX = 700
        self.motion.waiting[Self.id] = self.note
        let frame = Frame(time: 1000, serverTime: nil)
        #expect(self.motion.drawn(Self.id, moved, isHeld: false, in: frame)?.positionX == 100)
        self.motion.waiting[Self.id] = nil
        #expect(self.motion.drawn(Self.id, moved, isHeld: false, in: frame)?.positionX == 700)
    }

    @Test func whatDoesNotMoveIsNotHalted() {
        #expect(self.motion.halt([Self.id], [.positionX], in: self.contents, at: 1000) == nil)
    }

    private mutating func preview(x: Int) {
        let preview = JSONObject { writer in
            writer.member("elementId", "a")
            writer.member("positionX", x)
        }
        self.motion.previewed(preview, in: preview, of: self.note, &self.outbox)
    }
}
