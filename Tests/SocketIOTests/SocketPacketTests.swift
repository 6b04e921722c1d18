import SocketIO
import Testing

@Suite struct SocketPacketTests {
    private func head(_ text: String, maxAttachments: Int = 10) -> Result<SocketPacketHead, SocketPacketError> {
        bytes(text).withUnsafeBytes { input in
            Result { () throws(SocketPacketError) in try SocketPacketHead(input, maxAttachments: maxAttachments) }
        }
    }

    private func describe(_ text: String) -> String {
        switch self.head(text) {
        case .failure(let error): return "\(error)"
        case .success(let head):
            let all = bytes(text)
            let namespace = String(decoding: all[head.namespace], as: UTF8.self)
            let payload = String(decoding: all[head.payload...], as: UTF8.self)
            return "\(head.type) \(head.attachments) \(namespace) \(head.ackID.map(String.init) ?? "-") \(payload)"
        }
    }

    @Test func wellFormed() {
        #expect(self.describe("0") == "connect 0  - ")
        #expect(self.describe("0{}") == "connect 0  - {}")
        #expect(self.describe(#"0/,{"token":"x"}"#) == #"connect 0  - {"token":"x"}"#)
        #expect(self.describe("0/custom") == "connect 0 /custom - ")
        #expect(self.describe("0/custom,{}") == "connect 0 /custom - {}")
        #expect(self.describe("1/,") == "disconnect 0  - ")
        #expect(self.describe("1/custom,") == "disconnect 0 /custom - ")
        #expect(self.describe(#"2["a"]"#) == #"event 0  - ["a"]"#)
        #expect(self.describe(#"212["a"]"#) == #"event 0  12 ["a"]"#)
        #expect(self.describe(#"2/n,0["a"]"#) == #"event 0 /n 0 ["a"]"#)
        #expect(self.describe("39007199254740991[]") == "ack 0  9007199254740991 []")
        #expect(self.describe(#"52-["a"]"#) == #"binaryEvent 2  - ["a"]"#)
        #expect(self.describe(#"51-/n,7["a"]"#) == #"binaryEvent 1 /n 7 ["a"]"#)
        #expect(self.describe("61-3[]") == "binaryAck 1  3 []")
    }

    @Test func malformed() {
        let cases: [(String, SocketPacketError)] = [
            ("", .unknownType), ("7", .unknownType), ("a", .unknownType), ("4{}", .unknownType),
            ("2{}", .badPayload), ("2", .badPayload), ("2abc[]", .badPayload), (#"2"a""#, .badPayload),
            ("2-1[]", .badPayload), ("21e3[]", .badPayload), ("299999999999999999999[]", .badAckID),
            ("29007199254740992[]", .badAckID), ("3[]", .badAckID), ("312{}", .badPayload),
            ("0[]", .badPayload), ("012{}", .badAckID), ("1{}", .badPayload), ("5[]", .badAttachments),
            ("50-[]", .badAttachments), ("511-[]", .badAttachments), ("59999999999-[]", .badAttachments),
            ("51[]", .badAttachments), ("51", .badAttachments), ("51-{}", .badPayload),
            ("2/" + String(repeating: "n", count: 60_000), .badNamespace),
        ]
        for (text, error) in cases {
            #expect(self.head(text) == .failure(error), "\(text.prefix(40))")
        }
        #expect(self.head("51-[]", maxAttachments: 0) == .failure(.badAttachments))
    }

    @Test func truncatedOrFlippedNeverTraps() {
        let samples = [#"52-/custom,17["a",{"_placeholder":true,"num":0}]"#, #"0/,{"a":1}"#, "31[2]"]
        for sample in samples {
            let all = bytes(sample)
            for end in 0...all.count { _ = self.head(String(decoding: all[..<end], as: UTF8.self)) }
            for index in all.indices {
                for bit in 0..<8 {
                    var copy = all
                    copy[index] ^= 1 << bit
                    copy.withUnsafeBytes { input in _ = try? SocketPacketHead(input, maxAttachments: 10) }
                }
            }
        }
    }

    @Test func assembling() throws {
        let text = bytes(#"52-["a"]"#)
        let head = try self.head(#"52-["a"]"#).get()
        var packet = text.withUnsafeBytes { BinaryPacket(head, text: $0, maxBytes: 100) }
        #expect(packet.head == head && packet.text == text && !packet.isComplete)
        var isTaken = packet.attach([1])
        #expect(isTaken && !packet.isComplete)
        isTaken = packet.attach([2])
        #expect(isTaken && packet.isComplete && packet.attachments == [[1], [2]])
        packet = text.withUnsafeBytes { BinaryPacket(head, text: $0, maxBytes: 100) }
        isTaken = packet.attach(Array(repeating: 0, count: 100))
        #expect(!isTaken)
    }

    @Test func placeholders() {
        func sound(_ json: String, _ count: Int) -> Bool {
            bytes(json).withUnsafeBytes { BinaryPlaceholders.areSound($0, count: count) }
        }
        #expect(sound(#"["a",{"_placeholder":true,"num":0},[{"x":{"_placeholder":true,"num":1.0}}]]"#, 2))
        #expect(sound(#"["a",{"_placeholder":false,"num":9}]"#, 1))
        for bad in ["-1", "2", "1.5", #""x""#, "1e1", "null", "99999999999999999999"] {
            #expect(!sound(#"["a",{"_placeholder":true,"num":\#(bad)}]"#, 2), "\(bad)")
        }
        #expect(!sound(#"["a",{"_placeholder":true}]"#, 1))
        // Whichever of two equal keys a decoder takes.
        #expect(sound(#"["a",{"_placeholder":true,"num":0,"num":1,"n":1e400}]"#, 2))
        for bad in [
            #""_placeholder":false,"_placeholder":true,"num":7"#, #""_placeholder":true,"num":0,"num":7"#,
            #""_placeholder":true,"num":0,"_placeholder":false,"x":{"_placeholder":true,"num":7}"#,
        ] { #expect(!sound(#"["a",{\#(bad)}]"#, 1), "\(bad)") }
        #expect(!sound(#"["a""#, 1))
        #expect(!sound("{}", 1))
    }

    @Test func connectPayloads() {
        func valid(_ json: String) -> Bool { bytes(json).withUnsafeBytes { ConnectPayload.isValid($0) } }
        #expect(valid(""))
        #expect(valid(#"{"token":"x"}"#))
        for odd in [#"{"a":1,"a":2}"#, #"{"a":1e400}"#, #"{"a":\#(String(repeating: "1", count: 2000))}"#] {
            #expect(valid(odd))
        }
        #expect(valid(#"{"token":"\u0000\ud800"}"#), "what a text may contain is for the application to say")
        for bad in ["{", "{}x", "[]", #"{"a":}"#, "1"] { #expect(!valid(bad), "\(bad)") }
        #expect(ConnectPayload.refusal(message: "a\"b", data: bytes("{}")) == bytes(#"{"message":"a\"b","data":{}}"#))
        #expect(ConnectPayload.refusal(message: "no", data: []) == bytes(#"{"message":"no"}"#))
    }

    @Test func namespaceTable() {
        var table = NamespaceTable<Int>(limit: 2)
        func route(_ name: String) -> String {
            switch bytes(name).withUnsafeBytes({ table.route($0) }) {
            case .member(let member): "\(member)"
            case .late: "late"
            case .unknown: "unknown"
            }
        }
        let custom = Namespace("/custom")
        #expect(table.connectReceived(.root) == .ask)
        table.asked(.root, 1)
        #expect(route("") == "unknown", "not before it is accepted")
        #expect(table.connectReceived(.root) == .known)
        table.accepted(.root)
        #expect(route("") == "1")
        table.asked(custom, 2)
        table.accepted(custom)
        #expect(table.connectReceived(Namespace("/third")) == .tooMany)
        #expect(route("/custom") == "2")
        table.removed(custom, byServer: true)
        #expect(route("/custom") == "late")
        table.asked(custom, 3)
        #expect(route("/custom") == "unknown")
        table.removed(custom, byServer: false)
        #expect(route("/custom") == "unknown")
        #expect(table.removeAll() == [1])
        #expect(Namespace("") == .root)
        #expect(Namespace("/") == .root)
        #expect(Namespace("a").wirePrefix == bytes("/a,"))
    }
}
