import Canvas
import JSONBytes
import Testing
import TouchSyncClientCore

/// What transcripts do not say, because it is about values of Swift or about more than one life of a room.
@Suite struct ClientCoreTests {
    @Test func lateAnswerFindsNoRoomThatWasLeft() {
        var core = Self.connected()
        let first = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        #expect(first.contains(.send(#"420["room:join",{"roomId":"demo","parts":true}]"#)))
        #expect(core.input(.room("demo", .leave), at: 3, random: 0).contains(.room("demo", .left)))
        _ = core.input(.room("demo", .join(record: nil)), at: 4, random: 0)
        #expect(core.input(.packetReceived("430" + Self.joined), at: 5, random: 0).isEmpty)
        #expect(core.state == .joining)
        _ = core.input(.packetReceived("432" + Self.joined), at: 6, random: 0)
        #expect(core.state == .live)
    }

    @Test func recordSurvivesAsText() throws {
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        _ = core.input(.packetReceived("430" + Self.joined), at: 3, random: 0)
        let body = JSONObject { $0.member("elementId", "a") }
        let outputs = core.input(.room("demo", .edit(id: "1", event: "element:delete", body: body)), at: 4, random: 0)
        let saved = outputs.compactMap { if case .room(_, .save(let record?, _)) = $0 { record } else { nil } }
        let record = try #require(saved.first)
        #expect(outputs.first == .room("demo", .save(record, isFirst: false)), "what is sent is saved before")
        var writer = JSONWriter()
        record.encode(into: &writer)
        var document = JSONDocument()
        try document.parse(writer.bytes)
        #expect(RoomRecord(json: document.root) == record)
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e308", "-1", "null", "[]"])
    func foreignNumbersDoNotEndTheProcess(number: String) {
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let limits = #""limits":{"message":\#(number),"unacknowledged":\#(number)},"throttleMs":\#(number)"#
        let answer = #"430[{"ok":true,"epoch":"e","seq":\#(number),"n":\#(number),\#(limits),"session":"s","sid":"i"}]"#
        _ = core.input(.packetReceived(answer), at: 3, random: 0)
        for packet in [
            #"42["element:deleted",{"roomId":"demo","seq":\#(number),"elementIds":["a"]}]"#,
            #"42["room:throttle",{"roomId":"demo","intervalMs":\#(number)}]"#,
            #"42["server:draining",{"closesInMs":\#(number)}]"#, #"43\#(number)[{"ok":true}]"#,
            #"0{"pingInterval":\#(number),"pingTimeout":\#(number)}"#, "2",
        ] { _ = core.input(.packetReceived(packet), at: 4, random: .nan) }
        #expect(core.state == .draining)
    }

    @Test func frameSaysWhatMovesUntilItRests() {
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let elements = #"[{"id":"a","type":"note"},{"id":"b","type":"note"}]"#
        _ = core.input(
            .packetReceived("430" + Self.joined.replacing(#""elements":[]"#, with: #""elements":\#(elements)"#)), at: 3,
            random: 0)
        let preview =
            #"42["element:transforming",{"roomId":"demo","elementId":"b","sid":"s","gesture":1,"positionX":50,"dt":0}]"#
        #expect(core.input(.packetReceived(preview), at: 4, random: 0) == [.room("demo", .moving("b"))])
        let moved = core.drawing(of: ["b", "gone", "a"], in: "demo", at: 1000)
        #expect(moved.elements.map(\.positionX) == [50, 0] && moved.moving == ["b"])
        let ended = #"42["gesture:ended",{"roomId":"demo","elementId":"b","sid":"s","gesture":1}]"#
        _ = core.input(.packetReceived(ended), at: 1000, random: 0)
        #expect(core.drawing(of: ["b"], in: "demo", at: 1001).moving == ["b"], "it is on its way back")
        let rested = core.drawing(of: ["b"], in: "demo", at: 2000)
        #expect(rested.elements.map(\.positionX) == [0] && !rested.isMoving)
    }

    /// Neither a frame nor a time to wake up at: as if it had never moved.
    @Test func whatHasComeToRestCostsNothing() {
        let segment = #"{"from":0,"to":5,"ms":50,"curve":"linear"}"#
        let motion = #","motion":{"positionX":{"startedAt":1000,"segments":[\#(segment)]}}"#
        var (core, still) = (Self.connected(), Self.connected())
        func inputs(_ input: ClientInput, at time: Int64) {
            _ = core.input(input, at: time, random: 0)
            _ = still.input(input, at: time, random: 0)
        }
        inputs(.room("demo", .join(record: nil)), at: 2)
        let answer = "430" + Self.joined.replacing(#""n":0"#, with: #""n":0,"time":1002"#)
        for (isMoving, motion) in [(true, motion), (false, "")] {
            let elements = #""elements":[{"id":"a","type":"note","positionX":5\#(motion)}]"#
            let packet = ClientInput.packetReceived(answer.replacing(#""elements":[]"#, with: elements))
            _ = isMoving ? core.input(packet, at: 2, random: 0) : still.input(packet, at: 2, random: 0)
        }
        for number in 1...3 {
            inputs(.timeReached, at: 2)
            inputs(.packetReceived(#"43\#(number)[{"ok":true,"time":1002}]"#), at: 2)
        }
        #expect(core.drawing(of: nil, in: "demo", at: 25).moving == ["a"])
        #expect(core.deadline == 50 && still.deadline != 50)
        inputs(.timeReached, at: 50)
        let drawn = core.drawing(of: nil, in: "demo", at: 51)
        #expect(!drawn.isMoving && drawn.elements == core.elements(in: "demo"))
        #expect(core.deadline == still.deadline)
    }

    /// A cursor costs the same however many people are in the room, and so does one who leaves.
    @Test(.timeLimit(.minutes(1))) func manyMembersPointInLinearTime() throws {
        let count = 30_000
        let members = (0..<count).map { #"{"userId":"u\#($0)","connections":[{"sid":"s\#($0)"}]}"# }
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let answer = Self.joined.replacing(
            #""sid":"i""#, with: #""sid":"i","members":[\#(members.joined(separator: ","))]"#)
        _ = core.input(.packetReceived("430" + answer), at: 3, random: 0)
        for number in (0..<count).reversed() {
            let pointed = #"{"roomId":"demo","userId":"u\#(number)","sid":"s\#(number)","x":1,"y":2}"#
            let outputs = core.input(.packetReceived(#"42["cursor:moved",\#(pointed)]"#), at: 4, random: 0)
            #expect(outputs.count == 1)
        }
        let left = #"42["member:left",{"roomId":"demo","userId":"u1"}]"#
        _ = core.input(.packetReceived(left), at: 5, random: 0)
        let known = #"42["member:joined",{"roomId":"demo","userId":"u2","name":"Two"}]"#
        _ = core.input(.packetReceived(known), at: 6, random: 0)
        let first = core.members(in: "demo").prefix(2)
        #expect(first.map(\.userId) == ["u0", "u2"] && first.last?.name == "Two")
        #expect(first.last?.connections.first?.cursor == Point(x: 1, y: 2))
    }

    @Test func membersKeepTheirOrderWhileOthersLeave() {
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let members = (0..<10).map { #"{"userId":"u\#($0)"}"# }.joined(separator: ",")
        let answer = Self.joined.replacing(#""sid":"i""#, with: #""sid":"i","members":[\#(members)]"#)
        _ = core.input(.packetReceived("430" + answer), at: 3, random: 0)
        var packets = [0, 2, 3, 5, 6, 7, 2].map { #"42["member:left",{"roomId":"demo","userId":"u\#($0)"}]"# }
        for user in ["u2", "new"] { packets.append(#"42["member:joined",{"roomId":"demo","userId":"\#(user)"}]"#) }
        packets.append(#"42["cursor:moved",{"roomId":"demo","userId":"u8","sid":"s","x":1,"y":2}]"#)
        for packet in packets { _ = core.input(.packetReceived(packet), at: 4, random: 0) }
        let left = core.members(in: "demo")
        #expect(left.map(\.userId) == ["u1", "u4", "u8", "u9", "u2", "new"])
        #expect(left[2].connections.first?.cursor == Point(x: 1, y: 2))
    }

    /// How elements came differs between users, and from one join to the next.
    @Test func elementsLieOnEachOtherAsForEverybody() {
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let elements = #"[{"id":"c","type":"note"},{"id":"a","type":"note"},{"id":"b","type":"note","zIndex":-1}]"#
        _ = core.input(
            .packetReceived("430" + Self.joined.replacing(#""elements":[]"#, with: #""elements":\#(elements)"#)), at: 3,
            random: 0)
        #expect(core.elements(in: "demo").map(\.id) == ["b", "a", "c"])
        core.keepOrder(in: "demo")
        #expect(core.elements(in: "demo").map(\.id) == ["b", "a", "c"])
        for packet in [
            #"42["element:created",{"roomId":"demo","seq":2,"id":"aa","type":"note"}]"#,
            #"42["element:updated",{"roomId":"demo","seq":3,"element":{"id":"b","type":"note","zIndex":1}}]"#,
        ] { _ = core.input(.packetReceived(packet), at: 4, random: 0) }
        #expect(core.elements(in: "demo").map(\.id) == ["a", "aa", "c", "b"], "the former order is not kept")
        core.keepOrder(in: "demo")
        let deleted = #"42["element:deleted",{"roomId":"demo","seq":4,"elementIds":["a"]}]"#
        _ = core.input(.packetReceived(deleted), at: 5, random: 0)
        #expect(core.drawing(of: nil, in: "demo", at: 6).elements.map(\.id) == ["aa", "c", "b"])
    }

    /// A server that is broken or hostile cannot keep the app busy: what it sends costs as much as it is long.
    @Test(.timeLimit(.minutes(1))) func manyFieldsAndMembersAreReadInLinearTime() throws {
        let count = 100_000
        let fields = (0..<count).map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
        let members = (0..<count).map { #"{"userId":"u\#($0)"}"# }.joined(separator: ",")
        var core = Self.connected()
        _ = core.input(.room("demo", .join(record: nil)), at: 2, random: 0)
        let answer = Self.joined
            .replacing(#""elements":[]"#, with: #""elements":[{"id":"a","type":"note",\#(fields),"f7":"last"}]"#)
            .replacing(#""sid":"i""#, with: #""sid":"i","members":[\#(members),{"userId":"u7"}]"#)
        _ = core.input(.packetReceived("430" + answer), at: 3, random: 0)
        let element = try #require(core.elements(in: "demo").first)
        #expect(element.extra.count == count && element.extra[7].json == Array(#""last""#.utf8))
        #expect(core.members(in: "demo").count == count)
    }

    private static let joined = #"[{"ok":true,"epoch":"e","seq":1,"n":0,"session":"s","sid":"i","elements":[]}]"#

    /// A core whose connection was accepted.
    private static func connected() -> ClientCore {
        var core = ClientCore(options: ClientOptions())
        _ = core.input(.connect, at: 0, random: 0)
        _ = core.input(.opened, at: 1, random: 0)
        for packet in ["0{}", #"40{"sid":"x"}"#] { _ = core.input(.packetReceived(packet), at: 1, random: 0) }
        return core
    }
}
