import JSONBytes
import Mesh
import NIOConcurrencyHelpers
import Testing
import Timing
import Wire

@testable import Boot
@testable import FanoutCore
@testable import FanoutDaemon

/// Questions on the way from the admin server's page to a core and back, on one thread.
@Suite struct RoomDeskTests {
    private let pages = AdminPages()
    private let questions = Mailbox<RoomQuestion>(capacity: 2) {}
    private let answers = NIOLockedValueBox<[AdminPage]>([])
    private let wakes = NIOLockedValueBox(0)
    private var desk: RoomDesk
    private var scene = Scene()

    init() {
        self.desk = RoomDesk(self.questions)
        RoomPages.add(to: self.pages, asking: self.questions) { [wakes] in wakes.withLockedValue { $0 += 1 } }
    }

    private func ask(_ query: String) {
        guard case .question(let ask) = self.pages.source(at: "/rooms")?.source else { return }
        ask(AdminQuestion(query: query) { [answers] page in answers.withLockedValue { $0.append(page()) } })
    }

    private mutating func turn() { self.desk.turn(over: self.scene.fanout, at: self.scene.now) }

    /// The answers since the last call.
    private func taken() -> [String] {
        self.answers.withLockedValue { exchange(&$0, with: []) }.map {
            "\($0.status) " + String(decoding: $0.body, as: UTF8.self)
        }
    }

    @Test mutating func aListIsAnsweredInTheTurn() {
        self.scene.member("ann", 1, room: #"quote"d"#)
        self.ask("")
        #expect(self.taken() == [] && self.wakes.withLockedValue { $0 } == 1)
        self.turn()
        #expect(!self.desk.isBusy)
        let text = self.taken().first ?? ""
        #expect(
            text.hasPrefix(
                #"200 {"rooms":[{"roomId":"quote\"d","members":1,"connections":1,"seq":0,"elements":0,"bytes":"#))
        #expect(text.hasSuffix(#","updatesPerSecond":0,"previewsPerSecond":0}],"truncated":false}"#))
    }

    @Test mutating func oneRoomIsFoundByItsEncodedName() {
        self.scene.member("a\nb", 1, room: "a room/ü")
        self.scene.commit(room: "a room/ü")
        self.scene.pass(1500)
        self.ask("x=1&id=a%20room%2F%C3%BC")
        self.ask("id=elsewhere")
        self.turn()
        let answers = self.taken()
        #expect(answers[0].contains(#""people":[{"userId":"a\nb","name":"A\nB","connections":1}]"#))
        #expect(
            answers[0].contains(#""updates":[{"seq":1,"event":"element:transformed","userId":"ann","elements":1,"at":"#)
        )
        #expect(answers[1] == "404 this fan-out does not have the room\n")
    }

    @Test mutating func aLongWalkTakesTurnsAndServesEverybodyWhoAskedBefore() {
        for index in 0..<1500 { self.scene.member("ann", UInt64(index + 1), room: Identifier("room-\(index)")) }
        self.ask("sort=members")
        self.ask("sort=members")
        self.turn()
        #expect(self.desk.isBusy && self.taken() == [])
        self.ask("sort=bytes")
        self.turn()
        #expect(self.taken().count == 2)
        // The other order follows.
        self.turn()
        self.turn()
        #expect(self.taken().count == 1 && !self.desk.isBusy)
    }

    @Test mutating func questionsBeyondTheBoundAreRefused() {
        for _ in 0..<3 { self.ask("") }
        #expect(self.taken() == ["503 too many questions\n"])
        self.turn()
        #expect(self.taken().count == 2)
        self.ask("sort=beauty")
        #expect(self.taken() == ["400 sort is one of activity, members, seq, bytes\n"])
    }

    @Test mutating func aQuestionThatWaitedTooLongCostsNothing() {
        self.ask("")
        self.scene.now = MonotonicClock.now() + .seconds(4)
        self.turn()
        #expect(self.taken() == [] && !self.desk.isBusy)
    }
}
