import Canvas
import JSONBytes
import NIOConcurrencyHelpers
import Testing
import TouchSyncClient
import TouchSyncClientCore

/// The client between a scripted server and a time that only tests move.
@Suite(.timeLimit(.minutes(1))) struct SyncClientTests {
    @Test func joinsAndShows() async throws {
        let fixture = try Fixture()
        let states = StateList(fixture.client)
        let (room, connection) = try await fixture.entered()
        #expect(connection.url == "ws://127.0.0.1:8080/socket.io/?EIO=4&transport=websocket")
        #expect(await room.elements.map(\.id) == ["a"])
        for state in [ClientState.connecting, .joining, .live] { #expect(await states.next() == state) }
        connection.say(moved("a", x: 7, seq: 2))
        try await eventually { await room.seq == 2 }
        #expect(await room.element("a")?.positionX == 7)
    }

    @Test func aFailedAttemptHasItsReasonUntilThereIsAConnection() async throws {
        let fixture = try Fixture()
        let (states, failures) = (StateList(fixture.client), fixture.client.failures)
        let (_, connection) = try await fixture.entered()
        connection.drop()
        await states.skip(to: .offline)
        #expect(await fixture.client.lastFailure == nil, "a loss is no failure")
        fixture.time.advance(by: 60_000)
        let second = try await fixture.transport.connection()
        second.say("Welcome!")
        #expect(await failures.first { _ in true }?.code == .notTouchSync)
        #expect(await fixture.client.lastFailure?.code == .notTouchSync)
        fixture.time.advance(by: 60_000)
        try await fixture.transport.connection().accept()
        await states.skip(to: .joining)
        #expect(await fixture.client.lastFailure == nil)
    }

    @Test func aDeviceWithoutANetworkLosesItsConnection() async throws {
        let fixture = try Fixture()
        let states = StateList(fixture.client)
        let (_, connection) = try await fixture.entered()
        fixture.client.networkLost()
        await states.skip(to: .offline)
        try await connection.closing()
        fixture.client.networkReturned()
        try await fixture.transport.connection().accept()
        await states.skip(to: .joining)
    }

    @Test func comesBackAfterALoss() async throws {
        let fixture = try Fixture()
        let states = StateList(fixture.client)
        let (room, connection) = try await fixture.entered()
        let edit = room.transform("a", TransformFields(positionX: 5))
        _ = try await connection.heard()
        connection.drop()
        await states.skip(to: .offline)
        fixture.time.advance(by: 60_000)
        let second = try await fixture.transport.connection()
        try await second.accept()
        try await second.join(note("a"))
        let answer = #"{"ok":true,"seq":2,"element":\#(note("a", x: 5)),"adjusted":[]}"#
        try await second.answer("element:transform", answer)
        let result = try await edit.result
        #expect(result.seq == 2 && result.element?.positionX == 5)
        #expect(await room.pending == 0)
    }

    @Test func anUpdateSaysWhatItRemovesAndResizes() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        var changes = ElementChanges()
        (changes.zIndex, changes.bounds, changes.fontSize) = (.remove, .remove, .set(12))
        changes.originalWidth = 300
        changes.extra = [.removal(of: "tint"), ExtraField("title", "x")]
        room.update("a", changes)
        let set = #"{"originalWidth":300,"bounds":null,"fontSize":12,"zIndex":null,"tint":null,"title":"x"}"#
        #expect(try await connection.heard().contains(#""set":"# + set))
        let shown = try #require(await room.element("a"))
        #expect((shown.width, shown.fontSize, shown.zIndex, shown.extra.map(\.name)) == (300, 12, nil, ["title"]))
    }

    /// What it writes is what servers read.
    @Test func editsOfMotionSayAllOfIt() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered("\(note("a")),\(note("b"))")
        func heard(_ event: String) async throws -> JSONValue {
            let text = try await connection.heard()
            let start = try #require(text.firstIndex(of: "["))
            var document = JSONDocument()
            try document.parse(Array(text[start...].utf8))
            let parts = Array(document.root.elements)
            #expect(parts.first?.string == event)
            return try #require(parts.last)
        }
        func motion(_ event: String) async throws -> MotionRequest {
            let sent = try await heard(event)
            return try MotionRequest(#require(sent["motion"]), path: "motion")
        }
        var spring = MotionRequest(.spring(response: 0.4, damping: 0.5, velocity: ByField()), turn: .ccw)
        spring.from[.positionX] = 3
        room.transform("a", TransformFields(positionX: 5), motion: spring)
        #expect(try await motion("element:transform") == spring)
        let eased = MotionRequest(.eased(ms: 250, .bezier(x1: 0, y1: 1, x2: 0.5, y2: 2)))
        room.transformAll([("a", TransformFields(positionX: 9)), ("b", TransformFields(positionX: 8))], motion: eased)
        #expect(try await motion("elements:transform") == eased)
        room.preset("a", .rotateCW, motion: eased)
        #expect(try await motion("element:preset") == eased)
        room.undo(motion: eased)
        #expect(try await motion("history:undo") == eased)

        var flight = Throw(velocity: Point(x: 900, y: -20), angularVelocity: 90)
        flight.snap = Throw.Snap()
        flight.snap?.gridX = 50
        room.throwElement("a", flight, from: TransformFields(positionY: 4))
        let thrown = try await heard("element:throw")
        #expect(try Throw(thrown, isGroup: false) == flight && thrown["positionY"]?.double == 4)
        room.throwElements(["a", "b"], Throw(velocity: Point(x: 1, y: 60)))
        let group = try await heard("elements:throw")
        #expect(try Throw(group, isGroup: true).velocity.y == 60)
        #expect(group["elements"]?.elements.map { $0["elementId"]?.string } == ["a", "b"])

        var pulse = KeyframeAnimation(ms: 600)
        pulse.iterations = .infinity
        (pulse.direction, pulse.composite) = (.alternate, .add)
        pulse.tracks[.scaleX] = [.init(at: 0, value: 0, curve: .easeInOut), .init(at: 1, value: 0.2)]
        room.animate(["a", "b"], pulse, staggerMs: 40)
        let animated = try await heard("elements:animate")
        #expect(try KeyframeAnimation(#require(animated["animation"]), path: "") == pulse)
        #expect(animated["staggerMs"]?.double == 40)
        room.animate("a", nil)
        #expect(try await heard("element:animate")["animation"]?.isNull == true)
        room.halt("a", fields: [.positionX, .rotation])
        #expect(try await heard("element:halt")["fields"]?.elements.map(\.string) == ["positionX", "rotation"])
        room.halt(["a", "b"])
        #expect(try await heard("elements:halt")["elements"]?.elements.map(\.string) == ["a", "b"])
    }

    @Test func elementsMoveByThemselves() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        fixture.client.connect()
        let connection = try await fixture.transport.connection()
        try await connection.accept()
        let segment = #"{"from":0,"to":8,"ms":1000,"curve":{"steps":1,"jump":"end"}}"#
        let motion = #","motion":{"positionX":{"startedAt":5000,"segments":[\#(segment)]}}"#
        let moving = note("a", x: 8).dropLast() + motion + "}"
        try await connection.answer(
            "room:join",
            #"{"ok":true,"time":5000,"epoch":"e","seq":1,"n":0,"session":"s","sid":"i","elements":[\#(moving)]}"#)
        try await room.joined()
        #expect(await room.isMoving("a"))
        #expect(await room.pose(of: "a")?.position.x == 0)
        #expect(await room.pose(of: "a", at: .now + .seconds(3600))?.position.x == 8)
        #expect(await room.pose(of: "b") == nil)
        fixture.time.advance(by: 1000)
        try await eventually { await !room.isMoving("a") }
        #expect(await room.pose(of: "a")?.position.x == 8)
    }

    @Test func staysDisconnected() async throws {
        let fixture = try Fixture()
        let states = StateList(fixture.client)
        let (_, connection) = try await fixture.entered()
        fixture.client.disconnect()
        #expect(try await connection.heard() == "41")
        try await connection.closing()
        await states.skip(to: .offline)
        fixture.time.advance(by: 3_600_000)
        try await eventually { fixture.time.isUnused }
        fixture.client.networkReturned()
        fixture.client.foregrounded()
        #expect(await fixture.client.state == .offline)
        #expect(fixture.transport.openings == 1)
    }

    @Test func messagesOfAClosedSocketAreNotForTheCore() async throws {
        let fixture = try Fixture()
        let states = StateList(fixture.client)
        let (room, old) = try await fixture.entered()
        old.stayOpen()
        fixture.client.disconnect()
        await states.skip(to: .offline)
        fixture.client.connect()
        let new = try await fixture.transport.connection()
        try await new.accept()
        try await new.join(note("a"))
        await states.skip(to: .live)
        old.say(moved("a", x: 99, seq: 2))
        old.say("41")
        try await old.wasRead()
        #expect(await room.element("a")?.positionX == 0)
        #expect(await fixture.client.state == .live)
        // The end of the old one is not the end of the new one.
        old.drop()
        new.say(moved("a", x: 3, seq: 2))
        try await eventually { await room.element("a")?.positionX == 3 }
        #expect(await fixture.client.state == .live)
    }

    @Test func asksForTokens() async throws {
        let reasons = NIOLockedValueBox<[TokenReason]>([])
        let fixture = try Fixture(token: { reason in
            reasons.withLockedValue { $0.append(reason) }
            return reason == .connect ? "first" : nil
        })
        let states = StateList(fixture.client)
        fixture.client.connect()
        let connection = try await fixture.transport.connection()
        let connect = try await connection.accept()
        #expect(connect.hasPrefix("40") && connect.contains(#""token":"first""#))
        await states.skip(to: .live)
        connection.say("41")
        await states.skip(to: .expired)
        #expect(reasons.withLockedValue { $0 } == [.connect, .refused])
    }

    @Test func aProviderThatFailsIsReported() async throws {
        let fixture = try Fixture(token: { _ in throw Surprise(text: "no token") })
        var errors = fixture.client.errors.makeAsyncIterator()
        let states = StateList(fixture.client)
        fixture.client.connect()
        #expect(await errors.next() is Surprise)
        await states.skip(to: .offline)
        #expect(fixture.transport.openings == 0)
    }

    @Test func aRefusalIsThrownAndTold() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        var changes = room.changes.makeAsyncIterator()
        let edit = room.delete("a")
        #expect(await room.elements.isEmpty)
        try await connection.answer(
            "element:delete", #"{"ok":false,"error":{"code":"forbidden","message":"locked","field":"locked"}}"#)
        let error = await #expect(throws: ClientError.self) { try await edit.result }
        #expect(error?.code == .forbidden && error?.field == "locked")
        #expect(await room.elements.map(\.id) == ["a"])
        var told: [RoomChange] = []
        while let change = await changes.next() {
            told.append(change)
            if case .refusal = change { break }
        }
        #expect(told.contains(.elements(["a"])))
    }

    @Test func theServerSaysWhoThisUserIs() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        fixture.client.connect()
        let connection = try await fixture.transport.connection()
        try await connection.accept()
        #expect(await fixture.client.me == nil)
        try await connection.answer(
            "room:join",
            #"{"ok":true,"epoch":"e","seq":1,"n":0,"session":"s","sid":"i","members":[],"elements":[],"#
                + #""self":{"userId":"ada","name":"Ada","color":"teal","right":"preview"}}"#)
        try await room.joined()
        #expect(await fixture.client.me == ClientUser(id: "ada", name: "Ada", color: "teal"))
        #expect(await room.me?.right == .preview)
    }

    @Test func signalsAndStatesHaveTypes() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let changes = room.changes
        room.signal("wave", ["times": 3])
        #expect(
            try await connection.heard() == #"42["room:signal",{"roomId":"demo","name":"wave","data":{"times":3}}]"#)
        room.signal("poke")
        #expect(try await connection.heard() == #"42["room:signal",{"roomId":"demo","name":"poke","data":null}]"#)
        room.show(state: ["tool": "pen"])
        #expect(try await connection.heard().contains(#"{"roomId":"demo","state":{"tool":"pen"}}"#))
        let errors = fixture.client.errors
        room.signal("wave", Double.nan)
        #expect((await errors.first { _ in true } as? ClientError)?.field == "data")
        connection.say(#"42["member:joined",{"roomId":"demo","userId":"bob"}]"#)
        connection.say(#"42["presence:changed",{"roomId":"demo","userId":"bob","sid":"b","state":{"tool":"pen"}}]"#)
        connection.say(
            #"42["room:signaled",{"roomId":"demo","userId":"bob","sid":"b","name":"wave","data":{"times":2}}]"#)
        let told = await changes.first { if case .signal = $0 { true } else { false } }
        guard case .signal(let signal) = told else { throw Surprise(text: "\(told as Any)") }
        #expect((signal.userId, signal.name) == ("bob", "wave") && signal.data(as: [String: Int].self) == ["times": 2])
        #expect(signal.data(as: String.self) == nil)
        let connections = await room.members.first { $0.userId == "bob" }?.connections
        #expect(connections?.first?.state(as: [String: String].self) == ["tool": "pen"])
    }

    @Test func newElementsHaveTheirIdsAtOnce() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        let edit = room.create(NewElement(type: "note"))
        let id = try #require(edit.elementIds.first)
        #expect(await room.elements.map(\.id) == [id])
        let later = room.createAll([NewElement(type: "note"), NewElement(type: "note")]).elementIds
        #expect(await room.elements.map(\.id) == [id] + later, "later ones lie on top")
        var bad = NewElement(type: "note")
        bad.extra = [ExtraField(name: "x", json: Array("{".utf8))]
        await #expect(throws: ClientError.self) { try await room.create(bad).result }
    }

    @Test func waitingForAResultCanBeCancelled() async throws {
        let fixture = try Fixture()
        let edit = fixture.client.room("demo").create(NewElement(type: "note"))
        let waiting = Task { try await edit.result }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(await fixture.client.room("demo").pending == 1)
    }

    @Test func gesturesArePreviewedAndStored() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let gesture = room.begin("a")
        gesture.update(translation: Point(x: 40, y: 0))
        #expect(try await connection.heard().hasPrefix(#"42["element:gesturing""#))
        #expect(await room.element("a")?.positionX == 40)
        gesture.update(translation: Point(x: .nan, y: 0))
        #expect(await room.element("a")?.positionX == 40)
        let edit = gesture.end()
        let answer = #"{"ok":true,"seq":2,"element":\#(note("a", x: 40)),"adjusted":[]}"#
        try await connection.answer("element:gesture", answer)
        #expect(try await edit.result.seq == 2)
        await #expect(throws: ClientError.self) { try await gesture.end().result }
    }

    @Test func aGestureThatNobodyKeepsIsCancelled() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        do {
            let gesture = room.begin("a")
            gesture.update(translation: Point(x: 40, y: 0))
            _ = try await connection.heard()
        }
        #expect(try await connection.heard().contains(#""translation":{"x":0,"y":0}"#))
        #expect(await room.element("a")?.positionX == 0)
    }

    @Test func aClientThatNobodyKeepsClosesItsConnection() async throws {
        var fixture: Fixture? = try Fixture()
        weak let client = fixture?.client
        let connection = try await #require(fixture).entered().1
        let changes = try #require(fixture?.client).room("demo").changes
        let edit = try #require(fixture?.client).room("demo").undo()
        let time = try #require(fixture?.time)
        fixture = nil
        try await connection.closing()
        for await _ in changes {}
        await #expect(throws: ClientError.self) { try await edit.result }
        try await eventually { client == nil && time.isUnused }
    }

    @Test func closeEndsEverything() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let edit = room.undo()
        await fixture.client.close()
        try await connection.closing()
        let error = await #expect(throws: ClientError.self) { try await edit.result }
        #expect(error?.code == .closed)
        await #expect(throws: ClientError.self) { try await room.redo().result }
        fixture.client.connect()
        #expect(await fixture.client.state == .offline)
        for await _ in fixture.client.states {}
    }

    @Test func aSlowConsumerGetsTheUnionOfTheChanges() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered(note("a") + "," + note("b"))
        var slow = room.changes.makeAsyncIterator()
        var other = room.changes.makeAsyncIterator()
        for (seq, id) in [(2, "a"), (3, "b"), (4, "a")] { connection.say(moved(id, x: seq, seq: seq)) }
        try await eventually { await room.seq == 4 }
        #expect(await slow.next() == .elements(["a", "b"]))
        #expect(await other.next() == .elements(["a", "b"]))
        connection.say(moved("b", x: 9, seq: 5))
        #expect(await slow.next() == .elements(["b"]))
        let waiting = Task {
            var changes = room.changes.makeAsyncIterator()
            return await changes.next()
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test func editsAreSentInTheOrderOfTheCalls() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let ids = (1...20).map { "e\($0)" }
        for id in ids { room.delete(id) }
        for (index, id) in ids.enumerated() {
            let request = try await connection.heard()
            #expect(request.contains(#""elementId":"\#(id)""#) && request.contains(#""n":\#(index + 1)}"#))
        }
    }

    @Test func aRoomThatWasLeftCanBeEnteredAgain() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let changes = room.changes
        room.leave()
        #expect(try await connection.heard().contains("room:leave"))
        var last: RoomChange?
        for await change in changes { last = change }
        #expect(last == .left)
        await #expect(throws: ClientError.self) { try await room.undo().result }
        let again = fixture.client.room("demo")
        try await connection.join(note("b"))
        try await again.joined()
        #expect(await again.elements.map(\.id) == ["b"])
    }

    @Test func theFirstJoinMayBeDenied() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        fixture.client.connect()
        let connection = try await fixture.transport.connection()
        try await connection.accept()
        try await connection.answer("room:join", #"{"ok":false,"error":{"code":"forbidden","message":"no"}}"#)
        await #expect(throws: ClientError.self) { try await room.joined() }
        await #expect(throws: ClientError.self) { try await fixture.client.room("demo").joined() }
    }

    @Test(arguments: [
        "", "touch.example", "ftp://touch.example", "http://", "http://a b", "http://x:99999", "http://ä.a",
    ])
    func refusesWhatIsNoServer(url: String) {
        #expect(throws: ClientSetupError.url(url)) { try SyncClient(url: url, transport: ScriptedTransport()) }
    }

    @Test func historyIsTyped() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("ä b")
        let entry =
            #"{"seq":3,"at":"2026-01-01T00:00:00.000Z","event":"element:created","userId":"ada","sid":"i","n":1,"#
            + #""changes":[{"elementId":"a","before":null,"after":\#(note("a"))}]}"#
        fixture.transport.answer(#"{"entries":[\#(entry)],"next":null,"oldest":1}"#)
        let page = try await room.history(after: 2, limit: 1000)
        let url = "http://127.0.0.1:8080/api/rooms/%C3%A4%20b/history?after=2&limit=200"
        #expect(fixture.transport.requests.map(\.url) == [url])
        #expect(page.entries.map(\.seq) == [3] && page.next == nil)
        let change = try #require(page.entries.first?.changes.first)
        #expect(change.before == nil && change.after?.id == "a")
        fixture.transport.answer(status: 404, #"{"ok":false,"error":{"code":"not_found"}}"#)
        #expect(try await room.history().entries.isEmpty)
        fixture.transport.answer(status: 403, #"{"ok":false,"error":{"code":"forbidden"}}"#)
        await #expect(throws: ClientError.self) { try await room.history() }
        fixture.transport.answer(status: 502, "<html>")
        await #expect(throws: TransportError.self) { try await room.history() }
    }
}
