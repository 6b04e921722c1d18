import Canvas
import CommitterCore
import DatabaseTestKit
import JSONBytes
import PipelineTestKit
import Testing
import Wire

/// Commits with a motion, animations and halts, as apps send them, at times of the server's clock.
@Suite struct MotionTests {
    private static let start = 1_000_000.0

    let database = TestDatabase()
    let bench: LedgerBench

    init() {
        self.bench = LedgerBench(on: self.database)
        self.bench.time = Self.start
        self.bench.admit(commit(1, create("a", #"{"type":"note","rotation":350}"#)))
        self.bench.admit(commit(2, create("b", #"{"type":"note","positionX":100}"#)))
        self.bench.run()
        self.next = 3
    }

    private var next: UInt64

    /// Commits an app's payload some ms after the start.
    @discardableResult
    private mutating func send(_ event: String, _ payload: String, at ms: Double = 0) throws -> ShardLedger.Settlement {
        self.bench.time = Self.start + ms
        self.bench.admit(commit(self.next, try EncodedEdit.read(event, payload)))
        self.next += 1
        return self.bench.run()
    }

    private func stored(_ id: Identifier = "a") throws -> Element {
        try #require(self.database.tables[ElementKey("room", id)]?.element)
    }

    private func shown(_ field: ElementField, of id: Identifier = "a", at ms: Double) throws -> Double {
        try self.stored(id).shown(field, at: Self.start + ms)
    }

    // MARK: Commits with a motion

    @Test mutating func aCommitStoresTheDestinationAndTheWayThere() throws {
        let settlement = try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":300,"transform":{"rotation":20},"motion":{"ms":1000,"curve":"linear"}}"#)
        let element = try self.stored()
        #expect(element.positionX == 300 && element.rotation == 20)
        #expect(
            settlement.texts[0].contains(
                #""motion":{"positionX":{"startedAt":1000000,"segments":[{"from":0,"to":300,"ms":1000,"curve":"linear"}]},"#
            ))
        // The shorter way around, unwrapped.
        #expect(element.motion[.rotation]?.segments == [Segment(from: 350, to: 380, ms: 1000, curve: .easing(.linear))])
        #expect(try self.shown(.positionX, at: 250) == 75 && self.shown(.rotation, at: 500) == 5)
        #expect(try self.shown(.positionX, at: 1000) == 300)
        #expect(element.motion[.positionY] == nil)
    }

    @Test(arguments: [("short", 170.0), ("cw", 170), ("ccw", -190)])
    mutating func turnsGoTheWayThatIsAskedFor(turn: String, degrees: Double) throws {
        try self.send(
            "element:transform",
            #"{"elementId":"a","transform":{"rotation":160},"motion":{"ms":9,"turn":"\#(turn)"}}"#)
        let segment = try #require(self.stored().motion[.rotation]?.segments.first)
        #expect(segment.to - segment.from == degrees)
    }

    @Test mutating func halfATurnGoesClockwiseAndNoTurnIsNone() throws {
        try self.send("element:transform", #"{"elementId":"a","transform":{"rotation":170},"motion":{"ms":9}}"#)
        #expect(try self.stored().motion[.rotation]?.segments.first?.to == 530)
        for turn in ["cw", "ccw"] {
            try self.send(
                "element:transform",
                #"{"elementId":"b","transform":{"rotation":0},"motion":{"ms":9,"turn":"\#(turn)"}}"#)
            #expect(try self.stored("b").motion.isEmpty, "\(turn)")
        }
    }

    @Test mutating func turnsOutOfThePlaneGoTheSameWays() throws {
        for (turn, end) in [("short", -10.0), ("cw", 350), ("ccw", -10)] {
            try self.send("element:transform", #"{"elementId":"a","transform":{"rotationX":0}}"#)
            try self.send(
                "element:transform",
                #"{"elementId":"a","transform":{"rotationX":350},"motion":{"ms":9,"turn":"\#(turn)"}}"#)
            #expect(try self.stored().motion[.rotationX]?.segments.first?.to == end, "\(turn)")
        }
    }

    @Test mutating func whatIsInFlightStartsFromWhereItShows() throws {
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":100,"curve":"linear"}}"#)
        try self.send(
            "element:transform", #"{"elementId":"a","positionX":0,"motion":{"ms":100,"curve":"linear"}}"#, at: 40)
        #expect(try self.stored().motion[.positionX]?.segments.first?.from == 40)
        // It names a field as it is stored: that field moves on, to there.
        try self.send(
            "element:transform", #"{"elementId":"a","positionX":0,"motion":{"ms":100,"curve":"linear"}}"#, at: 90)
        #expect(try self.stored().motion[.positionX]?.segments.first?.from == 20)
    }

    @Test(arguments: [
        ("element:transform", #""positionX":100,"motion":{"ms":100}"#),
        ("element:throw", #""velocity":{"x":1000,"y":0}"#),
    ])
    mutating func itStartsFromWhatShowsLessWhatGoesOnAdding(event: String, members: String) throws {
        let still = #"[{"at":0,"value":50},{"at":1,"value":50}]"#
        try self.send(
            "element:animate",
            #"{"elementId":"a","animation":{"ms":9000,"composite":"add","tracks":{"positionX":\#(still)}}}"#)
        #expect(try self.shown(.positionX, at: 10) == 50)
        try self.send(event, #"{"elementId":"a",\#(members)}"#, at: 10)
        #expect(try self.stored().motion[.positionX]?.segments.first?.from == 0)
        #expect(try self.shown(.positionX, at: 10) == 50)
    }

    @Test mutating func itStartsFromAReplacingAnimationWhichItEnds() throws {
        let still = #"[{"at":0,"value":0.5},{"at":1,"value":0.5}]"#
        let tracks = #"{"positionX":\#(still.replacing("0.5", with: "40")),"opacity":\#(still)}"#
        try self.send("element:animate", #"{"elementId":"a","animation":{"ms":9000,"tracks":\#(tracks)}}"#)
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":100}}"#, at: 10)
        #expect(try self.stored().motion[.positionX]?.segments.first?.from == 40)
        #expect(try self.stored().animation?.tracks.fields == [.opacity])
    }

    @Test mutating func aHandSaysWhereItLetGo() throws {
        let settlement = try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":10,"motion":{"ms":100,"from":{"positionX":50.4,"rotation":-10}}}"#)
        let element = try self.stored()
        // Clamped like a preview, which has no adjustments; only what the commit sends or changes gets a track.
        #expect(element.motion[.positionX]?.segments.first?.from == 50 && element.motion[.rotation] == nil)
        #expect(settlement.texts[0].hasSuffix(#""adjusted":[]}"#))
        try self.send(
            "elements:transform",
            #"{"elements":[{"elementId":"a","positionX":1,"from":{"positionX":7}},{"elementId":"b","positionX":2}],"motion":{"ms":9}}"#
        )
        #expect(try self.stored().motion[.positionX]?.segments.first?.from == 7)
        #expect(try self.stored("b").motion[.positionX]?.segments.first?.from == 100)
    }

    @Test mutating func aSpringHasTheHandsVelocityOrThatOfTheOneBefore() throws {
        let settlement = try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":10,"motion":{"spring":{"velocity":{"positionX":1e300,"opacity":-1}}}}"#)
        #expect(
            settlement.texts[0].contains(
                #"{"field":"motion.spring.velocity.positionX","sent":1e+300,"stored":20000,"why":"range"}"#))
        let spring = Spring(response: 0.5, damping: 0.825, velocity: 20_000)
        #expect(try self.stored().motion[.positionX]?.segments.first?.curve == .spring(spring))
        let velocity = spring.displacement(from: -10, after: 0.1).v
        try self.send("element:transform", #"{"elementId":"a","positionX":0,"motion":{"spring":{}}}"#, at: 100)
        guard case .spring(let next)? = try self.stored().motion[.positionX]?.segments.first?.curve else {
            Issue.record("no spring")
            return
        }
        #expect(next.velocity == velocity)
        // A hand that says where it let go, and no velocity, holds it.
        try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":9,"motion":{"spring":{},"from":{"positionX":0}}}"#, at: 110)
        guard case .spring(let held)? = try self.stored().motion[.positionX]?.segments.first?.curve else {
            Issue.record("no spring")
            return
        }
        #expect(held.velocity == 0)
    }

    @Test mutating func aSpringTakesOverTheVelocityOfADecay() throws {
        try self.send("element:throw", #"{"elementId":"a","velocity":{"x":1000,"y":0}}"#)
        let velocity = try #require(self.stored().motion[.positionX]).velocity(at: Self.start + 100)
        // 1000 · 0.998^100, but for the rounding of the way.
        #expect((velocity - 818.6).magnitude < 2)
        try self.send("element:transform", #"{"elementId":"a","positionX":0,"motion":{"spring":{}}}"#, at: 100)
        let spring = Spring(response: 0.5, damping: 0.825, velocity: velocity)
        #expect(try self.stored().motion[.positionX]?.segments.first?.curve == .spring(spring))
    }

    /// Whatever moves an element, each field that it changes gets a track.
    @Test mutating func presetsAndGesturesMoveToo() throws {
        try self.send("element:preset", #"{"elementId":"b","preset":"rotateCW","motion":{"ms":100,"curve":"linear"}}"#)
        let turn = Segment(from: 0, to: 90, ms: 100, curve: .easing(.linear))
        #expect(try self.stored("b").motion[.rotation]?.segments == [turn])
        let deltas = #""translation":{"x":50,"y":0},"motion":{"ms":100}"#
        try self.send("element:gesture", #"{"elementId":"a",\#(deltas)}"#, at: 1000)
        #expect(try self.stored().motion.fields == [.positionX])
        try self.send(
            "elements:gesture", #"{"elements":["a","b"],"pivot":{"x":0,"y":0},\#(deltas)}"#, at: 2000)
        for (id, from) in [("a", 50.0), ("b", 100)] as [(Identifier, Double)] {
            let segment = try #require(self.stored(id).motion[.positionX]?.segments.first)
            #expect(segment.from == from && segment.to == from + 50, "\(id)")
        }
    }

    @Test mutating func aCommitEndsTheTracksOfWhatItChangesAndNoOther() throws {
        try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":100,"positionY":100,"transform":{"rotation":90},"motion":{"ms":1000}}"#)
        // As a 1.0 app does that turns it: the position is as it is stored.
        try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":100,"positionY":7,"transform":{"rotation":90}}"#, at: 10)
        #expect(try self.stored().motion.fields == [.positionX, .rotation])
        try self.send("element:gesture", #"{"elementId":"a","rotation":5}"#, at: 20)
        #expect(try self.stored().motion.fields == [.positionX])
    }

    @Test mutating func whatEndedLongAgoIsLeftOutAtTheNextChange() throws {
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":1000}}"#)
        try self.send("element:update", #"{"elementId":"a","set":{"zIndex":1}}"#, at: 60_999)
        #expect(try !self.stored().motion.isEmpty)
        let redo = try self.send("element:transform", #"{"elementId":"a","positionX":100}"#, at: 61_001)
        #expect(try self.stored().motion.isEmpty && redo.updates.count == 1)
        // That it is left out is no change.
        try self.send("history:undo", "{}", at: 61_002)
        #expect(try self.stored().zIndex == nil)
    }

    @Test mutating func undoAndRedoMoveToo() throws {
        try self.send("element:transform", #"{"elementId":"a","positionX":100}"#)
        try self.send("history:undo", #"{"motion":{"ms":100,"curve":"linear"}}"#, at: 10)
        #expect(try self.stored().positionX == 0 && self.shown(.positionX, at: 60) == 50)
        try self.send("history:redo", #"{"motion":{"ms":100,"curve":"linear"}}"#, at: 60)
        #expect(try self.shown(.positionX, at: 60) == 50 && self.shown(.positionX, at: 110) == 75)
    }

    @Test mutating func anUndoThatMovesBringsAnAnimationBackWhole() throws {
        try self.send("element:animate", #"{"elementId":"a","animation":\#(Self.pulse)}"#)
        let animation = try self.stored().animation
        try self.send("element:transform", #"{"elementId":"a","transform":{"scaleX":3,"scaleY":3}}"#, at: 10)
        #expect(try self.stored().animation == nil)
        try self.send("history:undo", #"{"motion":{"ms":100}}"#, at: 20)
        #expect(try self.stored().animation == animation && self.stored().motion.fields == [.scaleX, .scaleY])
    }

    @Test mutating func aRepetitionGetsTheFirstAnswer() throws {
        let payload = #"{"elementId":"a","positionX":10,"motion":{"spring":{"velocity":{"positionX":-1e9}}}}"#
        let first = try self.send("element:transform", payload)
        self.next -= 1
        let second = try self.send("element:transform", payload, at: 5000)
        #expect(second.texts == first.texts.map { String($0.dropLast()) + #","duplicate":true}"# })
        self.next -= 1
        let other = try self.send("element:transform", #"{"elementId":"a","positionX":10}"#, at: 5000)
        #expect(other.refusals[0]?.code == .conflict && other.refusals[0]?.field == "n")
    }

    @Test(arguments: [
        ("element:transform", #""positionX":1,"motion":{"ms":0.5}"#, "motion.ms"),
        ("element:transform", #""positionX":1,"motion":{}"#, "motion.ms"),
        ("element:transform", #""positionX":1,"motion":[]"#, "motion"),
        ("element:transform", #""positionX":1,"motion":{"ms":60001}"#, "motion.ms"),
        ("element:transform", #""positionX":1,"motion":{"ms":9,"curve":"fast"}"#, "motion.curve"),
        (
            "element:transform", #""positionX":1,"motion":{"ms":9,"curve":{"points":[[0,0],[1,1]]}}"#,
            "motion.curve.points"
        ),
        ("element:transform", #""positionX":1,"motion":{"ms":9,"turn":"left"}"#, "motion.turn"),
        ("element:transform", #""positionX":1,"motion":{"ms":9,"spring":{}}"#, "motion.spring"),
        ("element:transform", #""positionX":1,"motion":{"spring":{"response":0.01}}"#, "motion.spring.response"),
        ("element:transform", #""positionX":1,"motion":{"curve":"ease","spring":{}}"#, "motion.spring"),
        ("element:transform", #""positionX":1,"motion":{"spring":{"response":10.1}}"#, "motion.spring.response"),
        ("element:transform", #""positionX":1,"motion":{"spring":{"damping":0.04}}"#, "motion.spring.damping"),
        ("element:transform", #""positionX":1,"motion":{"spring":{"damping":6}}"#, "motion.spring.damping"),
        (
            "element:transform", #""positionX":1,"motion":{"spring":{"velocity":{"width":1}}}"#,
            "motion.spring.velocity.width"
        ),
        ("element:transform", #""positionX":1,"motion":{"ms":9,"from":{"positionX":"1"}}"#, "motion.from.positionX"),
        ("element:preset", #""preset":"flipX","motion":{"ms":9,"from":{"perspective":1}}"#, "motion.from.perspective"),
        ("element:gesture", #""anchor":{"x":0,"y":0},"motion":{"ms":9}"#, "motion"),
        ("history:undo", #""motion":{"ms":9,"from":{"positionX":1}}"#, "motion.from"),
        (
            "elements:transform",
            #""elements":[{"elementId":"a","positionX":1}],"motion":{"ms":9,"from":{"opacity":1}}"#,
            "motion.from"
        ),
        (
            "elements:gesture",
            #""elements":["a"],"pivot":{"x":0,"y":0},"rotation":9,"motion":{"ms":9,"from":{"positionX":1}}"#,
            "motion.from"
        ),
        ("elements:animate", #""elements":["a"],"animation":null,"staggerMs":10001"#, "staggerMs"),
        ("element:animate", "", "animation"),
        ("element:animate", #""animation":{"ms":15,"tracks":{"opacity":[{"at":0,"value":1}]}}"#, "animation.ms"),
        ("element:halt", #""fields":["width"]"#, "fields[0]"), ("element:halt", #""fields":[]"#, "fields"),
        ("element:halt", #""at":"now""#, "at"),
    ])
    func aFaultIsNamed(event: String, members: String, field: String) {
        let refusal = #expect(throws: Refusal.self) {
            try EncodedEdit.read(event, "{\"elementId\":\"a\"\(members.isEmpty ? "" : ",")\(members)}")
        }
        #expect(refusal?.code == .invalid && refusal?.field == field)
    }

    @Test(arguments: [
        ("element:transform", #""motion":{"ms":1}"#), ("element:transform", #""motion":{"ms":60000}"#),
        ("element:transform", #""motion":{"spring":{"response":0.02,"damping":0.05}}"#),
        ("element:transform", #""motion":{"spring":{"response":10,"damping":5}}"#),
        ("elements:animate", #""elements":["a"],"animation":null,"staggerMs":10000"#),
    ])
    func rangesIncludeTheirEnds(event: String, members: String) {
        #expect(throws: Never.self) { try EncodedEdit.read(event, "{\"elementId\":\"a\",\"positionX\":1,\(members)}") }
    }

    // MARK: Animations

    private static let pulse = #"{"ms":1000,"iterations":"infinite","tracks":{"scaleX":[{"at":0.5,"value":2}]}}"#

    @Test mutating func anAnimationIsStoredWholeWithItsStart() throws {
        let settlement = try self.send("element:animate", #"{"elementId":"a","animation":\#(Self.pulse)}"#, at: 5)
        #expect(settlement.updates[0].event == .updated)
        #expect(
            settlement.texts[0].contains(
                #""animation":{"ms":1000,"iterations":"infinite","direction":"normal","delayMs":0,"composite":"replace","tracks":{"scaleX":[{"at":0.5,"value":2,"curve":"linear"}]},"startedAt":1000005}"#
            ))
        #expect(try self.stored().scaleX == 1 && self.shown(.scaleX, at: 505) == 2)
        try self.send("history:undo", "{}", at: 10)
        #expect(try self.stored().animation == nil)
        try self.send("history:redo", "{}", at: 2000)
        #expect(try self.stored().animation?.startedAt == Self.start + 5)
        try self.send("element:animate", #"{"elementId":"a","animation":null}"#, at: 3000)
        #expect(try self.stored().animation == nil)
    }

    @Test mutating func aGroupStartsOneAfterTheOther() throws {
        let settlement = try self.send(
            "elements:animate", #"{"elements":["b","a"],"staggerMs":100,"animation":\#(Self.pulse)}"#)
        #expect(settlement.updates[0].event == .updatedMany)
        #expect(try self.stored("b").animation?.delayMs == 0 && self.stored().animation?.delayMs == 100)
        #expect(settlement.texts[0].contains(#"{"id":"b","type":"note","rev":2,"animation":{"ms":1000,"#))
        #expect(!settlement.texts[0].contains("positionX"))
    }

    @Test mutating func aGroupsAnimationsEndWithEntriesThatHaveNone() throws {
        try self.send("elements:animate", #"{"elements":["a","b"],"animation":\#(Self.pulse)}"#)
        let settlement = try self.send("elements:animate", #"{"elements":["a","b"],"animation":null}"#, at: 10)
        #expect(
            settlement.texts[0].contains(
                #""elements":[{"id":"a","type":"note","rev":3},{"id":"b","type":"note","rev":3}]"#))
        #expect(try self.stored().animation == nil && self.stored("b").animation == nil)
    }

    /// Members hear of the animation only, so the rest of the element stays.
    @Test mutating func aGroupsAnimationLeavesOutNoMotionThatEnded() throws {
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":1000}}"#)
        try self.send("elements:animate", #"{"elements":["a"],"animation":\#(Self.pulse)}"#, at: 90_000)
        #expect(try self.stored().motion.fields == [.positionX])
        try self.send("element:animate", #"{"elementId":"a","animation":null}"#, at: 90_001)
        #expect(try self.stored().motion.isEmpty)
    }

    @Test mutating func aChangeEndsTheReplacingTracksOfItsFields() throws {
        let both = #""tracks":{"scaleX":[{"at":0,"value":2}],"opacity":[{"at":0,"value":0}]}"#
        for (composite, left) in [("replace", [ElementField.opacity]), ("add", [.scaleX, .opacity])] {
            try self.send(
                "element:animate",
                #"{"elementId":"a","animation":{"ms":1000,"composite":"\#(composite)",\#(both)}}"#)
            try self.send(
                "element:transform", #"{"elementId":"a","transform":{"scaleX":3,"scaleY":3}}"#, at: 10)
            #expect(try self.stored().animation?.tracks.fields == left)
            try self.send("history:undo", "{}", at: 20)
            #expect(try self.stored().animation?.tracks.fields == [.scaleX, .opacity])
        }
        try self.send(
            "elements:transform", #"{"elements":[{"elementId":"a","transform":{"scaleX":3}}]}"#, at: 30)
    }

    /// A group's update has the geometry, and the animation only where it changed.
    @Test mutating func aGroupTellsWhichAnimationsEnded() throws {
        try self.send("elements:animate", #"{"elements":["a","b"],"animation":\#(Self.pulse)}"#)
        let settlement = try self.send(
            "elements:transform",
            #"{"elements":[{"elementId":"a","transform":{"scaleX":3}},{"elementId":"b","positionX":9}]}"#, at: 9)
        #expect(
            String(decoding: settlement.updates[0].text, as: UTF8.self).contains(
                #""rev":3,"animation":null},{"id":"b""#))
        #expect(settlement.texts[0].contains(#""rev":3,"animation":null},{"id":"b""#))
        #expect(!settlement.texts[0].contains("scaleX\":["))
        // The same from the log.
        let row = try #require(self.database.log.last)
        var document = JSONDocument()
        let logged = row.event.shape.elements(before: row.before, after: row.after, with: &document)
        let parts = try #require(logged).map { String(decoding: $0.part, as: UTF8.self).contains("animation") }
        #expect(parts == [true, false])
    }

    @Test mutating func anAnimationThatEndedLongAgoIsLeftOutToo() throws {
        let once = Self.pulse.replacing(#""infinite""#, with: "1")
        try self.send("elements:animate", #"{"elements":["a","b"],"animation":\#(once)}"#)
        try self.send("element:update", #"{"elementId":"a","set":{"zIndex":1}}"#, at: 60_999)
        #expect(try self.stored().animation != nil)
        try self.send("element:update", #"{"elementId":"a","set":{"zIndex":2}}"#, at: 61_001)
        #expect(try self.stored().animation == nil)
        let settlement = try self.send(
            "elements:transform", #"{"elements":[{"elementId":"b","positionX":9}]}"#, at: 61_001)
        #expect(settlement.texts[0].contains(#""animation":null"#))
    }

    @Test(arguments: [
        (#"{"type":"audio"}"#, "rotation"), (#"{"type":"audio"}"#, "rotationX"), (#"{"type":"audio"}"#, "positionZ"),
        (#"{"type":"guide","axis":"x"}"#, "rotationX"), (#"{"type":"guide","axis":"x"}"#, "positionZ"),
        (#"{"type":"text","parentId":"a","space":"normalized"}"#, "rotationX"),
        (#"{"type":"text","parentId":"a","space":"normalized"}"#, "positionZ"),
    ])
    mutating func nothingIsAnimatedThatItsTypeForbids(element: String, field: String) throws {
        try self.send("element:create", #"{"element":{"id":"c",\#(element.dropFirst())}"#)
        let former = try self.stored("c")
        let tracks = #"{"opacity":[{"at":0,"value":0}],"\#(field)":[{"at":0,"value":1}]}"#
        let refused = try self.send(
            "element:animate", #"{"elementId":"c","animation":{"ms":100,"tracks":\#(tracks)}}"#)
        #expect(refused.refusals[0]?.code == .invalid)
        #expect(refused.refusals[0]?.field == "animation.tracks.\(field)")
        #expect(try self.stored("c") == former)
    }

    @Test mutating func aCreationMayHaveAnAnimation() throws {
        try self.send("element:create", #"{"element":{"id":"c","type":"note","animation":\#(Self.pulse)}}"#, at: 7)
        #expect(try self.stored("c").animation?.startedAt == Self.start + 7)
        let turning = #""animation":{"ms":100,"tracks":{"rotation":[{"at":0,"value":9}]}}"#
        let refused = try self.send("element:create", #"{"element":{"type":"audio",\#(turning)}}"#)
        #expect(refused.refusals[0]?.code == .invalid)
        #expect(refused.refusals[0]?.field == "element.animation.tracks.rotation")
    }

    @Test mutating func aCreationHasNoMotion() throws {
        let segment = #"{"from":0,"to":9,"ms":100,"curve":"linear"}"#
        let motion = #"{"positionX":{"startedAt":1000000,"segments":[\#(segment)]}}"#
        let settlement = try self.send(
            "element:create", #"{"element":{"id":"c","type":"note","positionX":9,"motion":\#(motion)}}"#)
        #expect(settlement.refusals == [nil])
        #expect(try self.stored("c").motion.isEmpty && self.stored("c").extra.isEmpty)
    }

    @Test func animationsHaveABoundedText() throws {
        let keyframes = Array(repeating: #"{"at":0,"value":1.25}"#, count: 64).joined(separator: ",")
        let tracks = ["positionX", "positionY", "scaleX", "scaleY"].map { "\"\($0)\":[\(keyframes)]" }
        let animation = { (count: Int) in #"{"ms":16,"tracks":{\#(tracks.prefix(count).joined(separator: ","))}}"# }
        let large = #expect(throws: Refusal.self) {
            try EncodedEdit.read("element:animate", #"{"elementId":"a","animation":\#(animation(4))}"#)
        }
        #expect(large?.code == .tooLarge && large?.field == "animation")
        let ids = (0..<200).map { "\"e\($0)\"" }.joined(separator: ",")
        let group = #expect(throws: Refusal.self) {
            try EncodedEdit.read("elements:animate", #"{"elements":[\#(ids)],"animation":\#(animation(1))}"#)
        }
        #expect(group?.code == .tooLarge && group?.field == "animation")
    }

    // MARK: Throws

    @Test mutating func aThrowStoresWhereItComesToRest() throws {
        let settlement = try self.send(
            "element:throw", #"{"elementId":"a","positionX":50.4,"velocity":{"x":1000,"y":0},"angularVelocity":-90}"#)
        let element = try self.stored()
        // (s − 1) / (1000 k) with k = −ln 0.998.
        #expect(settlement.updates[0].event == .transformed)
        #expect((element.positionX - 549).magnitude <= 1 && element.motion.fields == [.positionX, .rotation])
        #expect(try self.shown(.positionX, at: 0) == 50 && self.shown(.positionX, at: 1e5) == element.positionX)
        #expect(
            settlement.texts[0].hasSuffix(
                #""adjusted":[{"field":"positionX","sent":50.4,"stored":50,"why":"integer"}]}"#))
        // Caught.
        try self.send("element:halt", #"{"elementId":"a"}"#, at: 100)
        #expect(try self.stored().motion.isEmpty && self.stored().positionX < element.positionX)
    }

    @Test mutating func aThrowEndsNoAnimationOfWhatItDoesNotMove() throws {
        let later = Self.pulse.replacing("scaleX", with: "positionY").replacing("1000", with: #"1000,"delayMs":5000"#)
        try self.send("element:animate", #"{"elementId":"a","animation":\#(later)}"#)
        try self.send("element:throw", #"{"elementId":"a","velocity":{"x":1000,"y":0}}"#, at: 10)
        #expect(try self.stored().motion.fields == [.positionX])
        #expect(try self.stored().animation?.tracks.fields == [.positionY])
    }

    @Test mutating func aGroupIsThrownOneWayAndAnnotationsAlone() throws {
        try self.send(
            "elements:throw", #"{"elements":[{"elementId":"b"},{"elementId":"a"}],"velocity":{"x":0,"y":500}}"#)
        let (a, b) = try (self.stored(), self.stored("b"))
        #expect(a.positionY == b.positionY && a.positionY > 200 && a.positionX == 0 && b.positionX == 100)
        try self.send("history:undo", "{}", at: 10)
        #expect(try self.stored().positionY == 0 && self.stored().motion.isEmpty)
        try self.send(
            "element:create",
            #"{"element":{"id":"t","type":"text","parentId":"a","space":"normalized","positionX":0.5}}"#)
        let refused = try self.send(
            "elements:throw", #"{"elements":[{"elementId":"a"},{"elementId":"t"}],"velocity":{"x":0,"y":500}}"#)
        #expect(refused.refusals[0]?.code == .invalid && refused.refusals[0]?.field == "elements[1].elementId")
        try self.send("element:throw", #"{"elementId":"t","velocity":{"x":9,"y":0}}"#)
        // It meets the edge of its parent.
        #expect(try self.stored("t").positionX == 1 && self.stored("t").motion[.positionX]?.segments.count == 2)
    }

    @Test mutating func whatIsThrownInFlightStartsWhereItShows() throws {
        try self.send("element:throw", #"{"elementId":"a","velocity":{"x":1000,"y":0}}"#)
        let shown = try self.shown(.positionX, at: 200)
        try self.send("element:throw", #"{"elementId":"a","velocity":{"x":0,"y":1000}}"#, at: 200)
        #expect(try self.stored().positionX == shown.rounded() && self.stored().positionY > 400)
    }

    // MARK: Halts

    @Test mutating func whatMovesStopsWhereItWasSeen() throws {
        try self.send(
            "element:transform",
            #"{"elementId":"a","positionX":100,"transform":{"opacity":0},"motion":{"ms":1000,"curve":"linear"}}"#)
        let settlement = try self.send(
            "element:halt", #"{"elementId":"a","fields":["positionX"],"at":\#(Self.start + 455)}"#, at: 500)
        let element = try self.stored()
        #expect(settlement.updates[0].event == .transformed)
        #expect(element.positionX == 46 && element.motion.fields == [.opacity])
        #expect(
            settlement.texts[0].contains(#"{"field":"positionX","sent":45.5,"stored":46,"why":"integer"}"#))
        try self.send("history:undo", "{}", at: 600)
        #expect(try self.stored().positionX == 100 && self.stored().motion.fields == [.opacity])
    }

    @Test mutating func aHaltEndsWhatAddsAndLooksBackASecondAtMost() throws {
        try self.send(
            "elements:animate",
            #"{"elements":["a","b"],"animation":{"ms":10000,"composite":"add","tracks":{"positionX":[{"at":0,"value":0},{"at":1,"value":10000}]}}}"#
        )
        try self.send("elements:halt", #"{"elements":["a","b"],"at":0}"#, at: 3000)
        #expect(try self.stored().positionX == 2000 && self.stored("b").positionX == 2100)
        #expect(try self.stored().animation == nil)
        // Ahead of the server's clock is now.
        try self.send(
            "element:transform", #"{"elementId":"a","positionX":3000,"motion":{"ms":1000,"curve":"linear"}}"#, at: 3000)
        try self.send("element:halt", #"{"elementId":"a","at":\#(Self.start + 9999)}"#, at: 3500)
        #expect(try self.stored().positionX == 2500)
    }

    @Test mutating func whatIsLockedNeitherMovesNorStops() throws {
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":1000}}"#)
        try self.send("element:update", #"{"elementId":"a","set":{"locked":true}}"#, at: 10)
        #expect(try !self.stored().motion.isEmpty)
        for (event, members) in Self.moves {
            let refused = try self.send("element:\(event)", #"{"elementId":"a"\#(members)}"#, at: 20)
            #expect(refused.refusals[0]?.code == .forbidden && refused.refusals[0]?.field == "locked", "\(event)")
        }
    }

    private static let moves = [
        ("throw", #","velocity":{"x":1000,"y":0}"#), ("animate", #","animation":\#(Self.pulse)"#), ("halt", ""),
    ]

    @Test mutating func oneThatIsLockedHoldsItsGroup() throws {
        try self.send("element:transform", #"{"elementId":"b","positionX":0,"motion":{"ms":1000}}"#)
        try self.send("element:update", #"{"elementId":"a","set":{"locked":true}}"#, at: 10)
        let former = try self.stored("b")
        for (event, members) in Self.moves {
            let ids = event == "throw" ? #"[{"elementId":"b"},{"elementId":"a"}]"# : #"["b","a"]"#
            let refused = try self.send("elements:\(event)", #"{"elements":\#(ids)\#(members)}"#, at: 20)
            #expect(refused.refusals[0]?.code == .forbidden && refused.refusals[0]?.field == "locked", "\(event)")
            #expect(try self.stored("b") == former && refused.updates.isEmpty, "\(event)")
        }
    }

    @Test mutating func aDeletionEndsAllAndItsUndoBringsTheAnimationBack() throws {
        try self.send("element:animate", #"{"elementId":"a","animation":\#(Self.pulse)}"#)
        try self.send("element:transform", #"{"elementId":"a","positionX":100,"motion":{"ms":1000}}"#)
        try self.send("element:delete", #"{"elementId":"a"}"#, at: 10)
        try self.send("history:undo", "{}", at: 20)
        #expect(try self.stored().motion.isEmpty && self.stored().animation != nil)
    }
}
