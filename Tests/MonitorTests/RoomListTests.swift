import JSONBytes
import OperatorTerminal
import Testing

@testable import OperatorMonitor

@Suite struct RoomListTests {
    private static func page(_ text: String) throws -> JSONValue {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        return document.root
    }

    private static func room(_ id: String, connections: Int, previews: Double) -> String {
        #"{"roomId":"\#(id)","members":1,"connections":\#(connections),"seq":7,"elements":3,"bytes":2048,"updatesPerSecond":0.5,"previewsPerSecond":\#(previews)}"#
    }

    @Test func roomsOfAllFanoutsAreOneList() throws {
        let first = try Self.page(
            #"{"rooms":[\#(Self.room("a", connections: 1, previews: 4)),\#(Self.room("moving", connections: 0, previews: 0))],"truncated":false}"#
        )
        let second = try Self.page(
            #"{"rooms":[\#(Self.room("moving", connections: 5, previews: 9)),{"members":1}],"truncated":true}"#)
        let list = LiveRoomList(
            [(fanout: "fanout-1", json: first), (fanout: "fanout-2", json: second)], by: .activity,
            silent: [.init(fanout: "fanout-3", reason: "gives no answer")])
        #expect(list.rooms.map(\.id) == ["moving", "a"] && list.rooms[0].fanout == "fanout-2" && list.isTruncated)
        #expect(
            list.table().text() == """
                ROOM    MEMBERS  UPDATES/S  PREVIEWS/S  SEQ  ELEMENTS  MEMORY  CONNECTIONS  FAN-OUT
                moving        1        0.5           9    7         3   2 KiB            5  fanout-2
                a             1        0.5           4    7         3   2 KiB            1  fanout-1

                """)
        #expect(
            list.json.hasSuffix(
                #""truncated":true,"silent":[{"fanout":"fanout-3","reason":"gives no answer"}]}"# + "\n"))
    }

    @Test func aListHasABound() throws {
        let rooms = (0..<150).map { Self.room("r\($0)", connections: $0, previews: 0) }.joined(separator: ",")
        let list = LiveRoomList(
            [(fanout: "f", json: try Self.page(#"{"rooms":[\#(rooms)],"truncated":false}"#))], by: .members)
        #expect(list.rooms.count == LiveRoomList.limit && list.isTruncated && list.rooms[0].id == "r149")
    }

    @Test func oneRoomInWords() throws {
        let json = try Self.page(
            #"{"roomId":"a","members":3,"connections":4,"seq":7,"elements":1,"bytes":2048,"updatesPerSecond":0,"previewsPerSecond":12.4,"people":[{"userId":"u1","name":"Ada\u001b[2J","connections":2}],"updates":[{"seq":7,"event":"element:transformed","userId":"u1","elements":1,"at":1000}]}"#
        )
        let report = try #require(LiveRoomReport(json, from: "fanout-1"))
        #expect(
            report.text(at: 4200, .plain) == """
                a on fanout-1: 3 members, 4 connections, seq 7, 1 element, 2 KiB, 0 updates/s, 12.4 previews/s

                USER  NAME     CONNECTIONS
                u1    Ada·[2J            2
                and 2 more

                SEQ    AGO  EVENT                USER  ELEMENTS
                  7  3.2 s  element:transformed  u1           1

                """)
        #expect(LiveRoomReport(try Self.page("{}"), from: "f") == nil)
    }
}
