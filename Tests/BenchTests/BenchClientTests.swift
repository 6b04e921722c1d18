import Histogram
import SocketIO
import Testing

@testable import bench

@Suite struct BenchClientTests {
    /// A client and what it said so far.
    struct Talk {
        var client: BenchClient
        var tally = Tally()
        var output: [UInt8] = []

        /// The server says something; the client's answers, unmasked.
        mutating func hear(_ text: String, at now: Int64 = 0) -> [String] {
            var frame: [UInt8] = []
            WebSocketFrame.withHeader(.text, payloadLength: text.utf8.count) { frame += $0 }
            return self.hear(bytes: frame + text.utf8, at: now).said
        }

        mutating func hear(bytes: [UInt8], at now: Int64 = 0) -> (said: [String], failure: String?) {
            self.output = []
            let failure = bytes.withUnsafeBytes {
                self.client.received($0, at: now, tally: &self.tally, output: &self.output)
            }
            return (Self.messages(self.output), failure)
        }

        static func messages(_ output: [UInt8]) -> [String] {
            var decoder = WebSocketDecoder(limits: WebSocketLimits(maxMessage: 1 << 20))
            var messages: [String] = []
            output.withUnsafeBytes { bytes in
                var offset = 0
                var payload: [UInt8] = []
                while offset < bytes.count, decoder.next(bytes, at: &offset, payload: &payload) == .text {
                    messages.append(String(decoding: payload, as: UTF8.self))
                    payload = []
                }
            }
            return messages
        }
    }

    static func talk(member: Int, elements: Int = 0) -> Talk {
        var load = Load()
        load.rooms = 1
        load.elements = elements
        let address = ServerAddress("http://127.0.0.1:1")
        let target = Target(addresses: address.map { [$0] } ?? [], run: "x")
        var talk = Talk(client: BenchClient(ClientPlan.plans(load)[member], load, target))
        talk.client.dial(at: 5)
        talk.client.opened(into: &talk.output)
        return talk
    }

    static let switching = Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".utf8)

    @Test func aMoverGreetsJoinsMakesItsElementAndThoseOfTheRoomAndTakesPart() {
        var talk = Self.talk(member: 0, elements: 2)
        #expect(String(decoding: talk.output, as: UTF8.self).hasPrefix("GET /socket.io/?EIO=4&transport=websocket"))
        // The head comes in two parts.
        #expect(talk.hear(bytes: Array(Self.switching[..<20])).failure == nil)
        #expect(talk.client.phase == .upgrading)
        #expect(talk.hear(bytes: Array(Self.switching[20...])).failure == nil)
        #expect(talk.hear("0{}") == [#"40{"userId":"bench-0","name":"Bench 0"}"#])
        #expect(talk.hear(#"40{"sid":"s"}"#) == [#"420["room:join",{"roomId":"bench-x-0"}]"#])
        #expect(talk.hear(#"430[{"ok":true}]"#).first?.hasPrefix(#"421["element:create""#) == true)
        #expect(talk.hear(#"431[{"ok":true}]"#).first?.hasPrefix(#"421["elements:create""#) == true)
        #expect(talk.client.phase != .live)
        #expect(talk.hear(#"431[{"ok":false,"error":{"code":"conflict"}}]"#) == [])
        #expect(talk.client.phase == .live)
        #expect(talk.hear("2") == ["3"])
    }

    @Test func untilItTakesPartItTellsWhatItWaitsFor() {
        var talk = Self.talk(member: 0)
        #expect(talk.client.phase.awaited?.contains("upgrade") == true)
        _ = talk.hear(bytes: Self.switching)
        for (text, awaited) in [
            ("0{}", "connect packet"), ("40{}", "room:join"), (#"430[{"ok":true}]"#, "element:create"),
        ] {
            _ = talk.hear(text)
            #expect(talk.client.phase.awaited?.contains(awaited) == true, "\(talk.client.phase)")
        }
        _ = talk.hear(#"431[{"ok":true}]"#)
        #expect(talk.client.phase.awaited == nil)
    }

    /// One that is live.
    static func live(member: Int) -> Talk {
        var talk = Self.talk(member: member)
        _ = talk.hear(bytes: Self.switching)
        for text in ["0{}", "40{}", #"430[{"ok":true}]"#, #"431[{"ok":true}]"#] { _ = talk.hear(text) }
        return talk
    }

    @Test func whatItSaysComesBackWithItsAge() {
        var talk = Self.live(member: 1)
        talk.output = []
        _ = talk.client.movePreview(at: 7_000_000, into: &talk.output)
        let said = Talk.messages(talk.output)
        #expect(said.count == 1)
        var listener = Self.live(member: 5)
        #expect(listener.client.phase == .live)
        #expect(listener.hear(said[0], at: 9_500_000) == [])
        #expect(listener.tally.previewsDelivered == 1)
        #expect(listener.tally.previewAge.maxRecorded == 2500)
        let isMover = listener.client.movePreview(at: 0, into: &listener.output)
        #expect(!isMover)
    }

    @Test func commitsKeepTheirWindowAndCountTheirAnswers() {
        var talk = Self.live(member: 0)
        talk.output = []
        let submissions = (1...17).map { _ in talk.client.moveForGood(at: 1_000_000, into: &talk.output) }
        #expect(submissions == Array(repeating: .said, count: 16) + [.held])
        #expect(talk.client.outstandingCommits == 16)
        _ = talk.hear("43\(CommitLane.firstID)[{\"ok\":true}]", at: 3_000_000)
        #expect(talk.tally.commitsApplied == 1)
        #expect(talk.tally.acknowledgement.maxRecorded == 2000)
        #expect(talk.client.outstandingCommits == 15)
        talk.client.ended()
        let late = talk.client.moveForGood(at: 4_000_000, into: &talk.output)
        #expect(late == .impossible)
    }

    @Test(arguments: [
        "HTTP/1.1 503 Busy\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n\u{88}\u{0}",
    ])
    func aServerThatRefusesIsTold(answer: String) {
        var talk = Self.talk(member: 0)
        #expect(talk.hear(bytes: answer.unicodeScalars.map { UInt8($0.value) }).failure != nil)
    }

    @Test func aRefusedJoinIsAFailure() {
        var talk = Self.talk(member: 0)
        _ = talk.hear(bytes: Self.switching)
        _ = talk.hear("0{}")
        _ = talk.hear("40{}")
        let text = #"430[{"ok":false,"error":{"code":"forbidden"}}]"#
        #expect(talk.hear(bytes: [0x81, UInt8(text.utf8.count)] + text.utf8).failure?.contains("joining") == true)
    }

    @Test func slowReadersReadAtTheirPaceTheDeafNever() {
        var slow = SlowReaders([3, 4], 1)
        #expect(slow.nextDeadline == .max)
        slow.begin(at: 100)
        #expect(slow.bytes == 1)
        let turns = [99, 100, 101].map { slow.takeTurn(at: $0) }
        #expect(turns == [false, true, false])
        #expect(slow.nextDeadline == 1_000_000_100)
        #expect(SlowReaders([1], 5000).bytes == 500)
        var deaf = SlowReaders([3], 0)
        deaf.begin(at: 100)
        #expect(deaf.nextDeadline == .max)
    }

    @Test func whatGatewaysTellAboutSlowReaders() {
        let page = "# HELP x y\ntouchsync_gateway_slow_members_total 12\ntouchsync_gateway_slow_members_totals 9\n"
        #expect(GatewayMetrics.value(in: page) == 12)
        #expect(GatewayMetrics.value(in: "touchsync_gateway_slow_members_total{gateway=\"1\"} 3\n") == 3)
        #expect(GatewayMetrics.value(in: "") == nil)
    }
}
