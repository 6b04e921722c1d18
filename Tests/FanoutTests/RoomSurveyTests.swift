import Testing
import Timing
import Wire

@testable import FanoutCore

@Suite struct RoomSurveyTests {
    private var scene = Scene()

    private func survey(by order: RoomOrder) -> (survey: RoomSurvey, steps: Int) {
        var survey = RoomSurvey(by: order)
        var steps = 1
        while !survey.advance(over: self.scene.fanout, at: self.scene.now) { steps += 1 }
        return (survey, steps)
    }

    private func names(by order: RoomOrder) -> [String] { self.survey(by: order).survey.rooms.map(\.room.text) }

    @Test mutating func eachOrderHasItsFirstRoom() {
        self.scene.member("ann", 1, room: "many-people")
        self.scene.member("ben", 2, room: "many-people")
        self.scene.member("ann", 3, room: "busy")
        self.scene.member("ann", 4, room: "old")
        self.scene.commit(room: "busy")
        for _ in 0..<3 { self.scene.commit(room: "old") }
        self.scene.pass(60_000)
        self.scene.commit(
            "large", Scene.element("large", more: #","text":"\#(String(repeating: "x", count: 9000))""#),
            room: "many-people")
        for _ in 0..<9 { self.scene.preview(.by(room: "busy", after: 1)) }
        #expect(self.names(by: .activity) == ["busy", "many-people", "old"])
        #expect(self.names(by: .members) == ["many-people", "busy", "old"])
        #expect(self.names(by: .seq) == ["old", "many-people", "busy"])
        #expect(self.names(by: .bytes).first == "many-people")
    }

    @Test mutating func figuresAreTheRooms() throws {
        self.scene.member("ann", 1)
        self.scene.member("ann", 2, at: Scene.g2)
        self.scene.member("ben", 3)
        self.scene.commit("e")
        self.scene.commit("f")
        self.scene.preview(.by(after: 2))
        let room = try #require(self.survey(by: .activity).survey.rooms.first)
        #expect(room.members == 2 && room.connections == 3 && room.seq == 2 && room.elements == 2)
        #expect(room.bytes > 500 && room.updatesPerSecond == 0.5 && room.previewsPerSecond == 0.25)
    }

    @Test mutating func aListOfManyRoomsIsCutAndEachStepIsBounded() {
        for index in 0..<2500 { self.scene.member("ann", UInt64(index + 1), room: Identifier("room-\(index)")) }
        for index in [17, 1234, 2499] { self.scene.commit(room: Identifier("room-\(index)")) }
        self.scene.commit(room: "room-1234")
        let (survey, steps) = self.survey(by: .activity)
        #expect(steps == 3 && survey.isTruncated && survey.rooms.count == RoomSurvey.listed)
        #expect(survey.rooms.prefix(3).map(\.room) == ["room-1234", "room-17", "room-2499"])
        // The others are equal, and follow by name.
        #expect(survey.rooms[3].room == "room-0" && survey.rooms[4].room == "room-1")
    }

    @Test mutating func roomsThatAreNotLoadedOrClosedAreNotListed() {
        #expect(self.names(by: .members) == [])
        self.scene.join("ann", 1, room: "loading")
        #expect(self.names(by: .members) == [])
        self.scene.answer()
        #expect(self.names(by: .members) == ["loading"])
        self.scene.leave(1, room: "loading")
        #expect(self.names(by: .members) == [])
    }

    @Test mutating func aReportNamesPeopleAndTheLastUpdates() throws {
        self.scene.member("ann", 1)
        self.scene.member("ben", 2)
        self.scene.member("ann", 3, at: Scene.g2)
        let begin = self.scene.now
        for _ in 0..<60 {
            self.scene.pass(10)
            self.scene.commit()
        }
        let report = try #require(self.scene.fanout.rooms.report(on: "r", at: self.scene.now))
        #expect(report.people.map(\.user) == ["ann", "ben"] && report.people.map(\.connections) == [2, 1])
        #expect(report.people.map(\.name) == ["ANN", "BEN"])
        #expect(report.updates.map(\.seq) == Array(11...60))
        let last = try #require(report.updates.last)
        #expect(last.event == .transformed && last.user == "ann" && last.elements == 1)
        #expect(
            last.arrivedAt == begin + .milliseconds(600) && report.updates[0].arrivedAt == begin + .milliseconds(110))
        #expect(self.scene.fanout.rooms.report(on: "nowhere", at: self.scene.now) == nil)
    }
}
