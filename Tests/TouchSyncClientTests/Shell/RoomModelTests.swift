import Canvas
import Testing
import TouchSyncClient
import TouchSyncClientCore

/// A room for views.
@Suite(.timeLimit(.minutes(1))) @MainActor struct RoomModelTests {
    @Test func followsTheRoom() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let model = RoomModel(room)
        try await eventually { model.elements.map(\.id) == ["a"] && model.state == .live }
        connection.say(moved("a", x: 7, seq: 2))
        try await eventually { model.elements.first?.positionX == 7 }
        connection.say(#"42["member:joined",{"roomId":"demo","userId":"bob","connections":[]}]"#)
        try await eventually { model.members.map(\.userId) == ["bob"] }
        room.delete("a")
        try await eventually { model.elements.isEmpty }
        try await connection.answer("element:delete", #"{"ok":false,"error":{"code":"forbidden","message":"no"}}"#)
        try await eventually { model.elements.count == 1 && model.refusal?.code == .forbidden }
        fixture.client.disconnect()
        try await eventually { model.state == .offline }
    }

    @Test func showsWhyThereIsNoConnection() async throws {
        let fixture = try Fixture()
        let model = RoomModel(fixture.client.room("demo"))
        fixture.client.connect()
        try await fixture.transport.connection().say("Welcome!")
        try await eventually { model.failure?.code == .notTouchSync && model.state == .offline }
        fixture.time.advance(by: 60_000)
        try await fixture.transport.connection().accept()
        try await eventually { model.failure == nil && model.state == .joining }
    }

    @Test func drawsMovementsOfOthers() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let model = RoomModel(room)
        try await eventually { model.elements.count == 1 }
        connection.say(
            #"42["element:transforming",{"roomId":"demo","elementId":"a","userId":"bob","sid":"b","transform":{},"#
                + #""positionX":100,"gesture":1,"after":1,"n":1,"dt":50}]"#)
        try await eventually {
            fixture.time.advance(by: 10)
            return model.elements.first?.positionX == 100
        }
        #expect(await room.element("a")?.positionX == 0)
        connection.say(#"42["gesture:ended",{"roomId":"demo","elementId":"a","userId":"bob","sid":"b","gesture":1}]"#)
        try await eventually {
            fixture.time.advance(by: 10)
            return model.elements.first?.positionX == 0
        }
    }

    @Test func showsElementsAsTheyLieOnEachOther() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let model = RoomModel(room)
        try await eventually { model.elements.count == 1 }
        connection.say(#"42["element:created",{"roomId":"demo","seq":2,"id":"b","type":"note","zIndex":-1}]"#)
        try await eventually { model.elements.map(\.id) == ["b", "a"] }
        let gesture = room.begin(["a", "b"])
        gesture.update(translation: Point(x: 3, y: 0))
        try await eventually { model.elements.allSatisfy { $0.positionX == 3 } }
        gesture.cancel()
        room.update("b", Self.onLevel(1))
        try await eventually { model.elements.map(\.id) == ["a", "b"] }
    }

    private static func onLevel(_ zIndex: Double) -> ElementChanges {
        var changes = ElementChanges()
        changes.zIndex = .set(zIndex)
        return changes
    }

    /// Of a room that was left nothing is known: that is no reason to show nothing.
    @Test func staysAsItWasWhenTheRoomIsLeft() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let model = RoomModel(room)
        connection.say(
            #"42["element:transforming",{"roomId":"demo","elementId":"a","userId":"bob","sid":"b","transform":{},"#
                + #""positionX":100,"gesture":1,"after":1,"n":1,"dt":50}]"#)
        try await eventually {
            fixture.time.advance(by: 1)
            return model.elements.first?.positionX ?? 0 > 0
        }
        room.leave()
        try await connection.answer("room:leave", #"{"ok":true}"#)
        #expect(await room.elements.isEmpty)
        // Several frames of the movement that was under way.
        for _ in 0..<100 {
            try await Task.sleep(for: .milliseconds(1))
            #expect(model.elements.map(\.id) == ["a"])
        }
    }

    /// A new join lists the elements that exist; those that were deleted meanwhile are not mentioned.
    @Test func forgetsWhatWasDeletedBeforeTheRoomWasEnteredAgain() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered(note("a") + "," + note("b"))
        let model = RoomModel(room)
        try await eventually { model.elements.map(\.id) == ["a", "b"] }
        await fixture.client.enterAgain(room)
        try await connection.answer("room:leave", #"{"ok":true}"#)
        try await connection.join(note("b", x: 3), seq: 3)
        try await eventually { model.elements.map(\.id) == ["b"] && model.elements.first?.positionX == 3 }
    }

    @Test func knowsThatItsRoomWasDeniedBefore() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        fixture.client.connect()
        let connection = try await fixture.transport.connection()
        try await connection.accept()
        try await connection.answer("room:join", #"{"ok":false,"error":{"code":"forbidden","message":"no"}}"#)
        await #expect(throws: ClientError.self) { try await room.joined() }
        #expect(RoomModel(room).denial?.code == .forbidden)
    }

    @Test func aModelThatNobodyKeepsEnds() async throws {
        let fixture = try Fixture()
        let (room, _) = try await fixture.entered()
        var model: RoomModel? = RoomModel(room)
        weak let kept = model
        try await eventually { model?.elements.count == 1 }
        model = nil
        try await eventually { kept == nil }
    }
}

extension SyncClient {
    /// Leaves and enters a room in one turn, so that the client hears of both before it does anything.
    fileprivate func enterAgain(_ room: SyncRoom) {
        room.leave()
        _ = self.room(room.id)
    }
}
