import JSONBytes
import Testing

@testable import bench

/// What is sent carries its time, and what arrives is recognised.
@Suite struct PacketTests {
    static func scan(_ text: String) -> Packet { Array(text.utf8).withUnsafeBytes { Packet($0) } }

    static let preview = """
        42["element:transforming",{"roomId":"bench-1","elementId":"e7","userId":"u","sid":"s","transform":{"rotation":\
        100.5},"positionX":100012,"positionY":1345678,"gesture":3,"after":17,"n":4,"dt":16}]
        """
    static let group = """
        42["elements:transforming",{"roomId":"r","elements":[{"elementId":"x0","transform":{"rotation":1},"positionX":\
        100500,"positionY":1000500,"after":3},{"elementId":"e7","transform":{"rotation":1},"positionX":100012,\
        "positionY":1345678,"after":3}],"userId":"u","sid":"s","gesture":3,"n":4,"dt":16}]
        """
    static let commit = """
        42["element:transformed",{"roomId":"bench-1","element":{"id":"e7","type":"note","positionX":100002,"positionY":\
        1000009,"width":100,"rotation":12.5},"seq":5,"userId":"u","sid":"s","n":77}]
        """
    static let groupCommit = """
        42["elements:transformed",{"roomId":"r","elements":[{"id":"x0","positionX":100500,"positionY":1000500},\
        {"id":"e7","type":"note","positionX":100002,"positionY":1000009,"rev":3}],"seq":5,"userId":"u","n":77}]
        """

    @Test func previewsAndCommitsHaveTheirTimes() {
        #expect(Self.scan(Self.preview) == .preview(sentAt: 12_345_678, folded: 4))
        #expect(Self.scan(Self.group) == .preview(sentAt: 12_345_678, folded: 4))
        #expect(Self.scan(Self.commit) == .commit(sentAt: 2_000_009))
        #expect(Self.scan(Self.groupCommit) == .commit(sentAt: 2_000_009))
        let relayed = #"42["element:transforming", {"roomId": "r", "positionX": 100001, "positionY": 1000002}]"#
        #expect(Self.scan(relayed) == .preview(sentAt: 1_000_002, folded: 1))
    }

    @Test func eachPreviewOfABatchCounts() {
        let events = [Self.preview, Self.group, #"42["selection:changed",{"elementIds":["a","b"]}]"#, Self.preview]
        let text = #"42["previews:batch",{"events":[\#(events.map { $0.dropFirst(2) }.joined(separator: ","))]}]"#
        #expect(Self.scan(text) == .batch)
        let found = Array(text.utf8).withUnsafeBytes { Packet.events(ofBatch: $0) }
        #expect(found.filter { $0 != .other } == Array(repeating: .preview(sentAt: 12_345_678, folded: 4), count: 3))
    }

    @Test func movesOfOthersHaveNoTime() {
        let turn = #"42["element:transforming",{"elementId":"e","transform":{"rotation":3},"n":2,"dt":16}]"#
        #expect(Self.scan(turn) == .preview(sentAt: nil, folded: 2))
        let fraction = #"42["element:transformed",{"element":{"positionX":-100001,"positionY":1.5}}]"#
        #expect(Self.scan(fraction) == .commit(sentAt: nil))
        let others = #"42["elements:transformed",{"roomId":"r","elements":[{"id":"x0","positionX":0}],"seq":5}]"#
        #expect(Self.scan(others) == .commit(sentAt: nil))
    }

    @Test func otherPackets() {
        let packets: [(String, Packet)] = [
            ("", .other), ("4", .other), ("43[]", .other), ("1", .ended), ("2", .ping), ("0{}", .open),
            ("40{}", .connected), ("41", .ended), ("44{}", .ended), ("430[]", .acknowledgement(id: 0, body: 3)),
            (#"431000042[{"ok":true}]"#, .acknowledgement(id: 1_000_042, body: 9)),
            (#"42["element:transform",{"roomId":"r"}]"#, .other), (#"42["member:joined",{"roomId":"r"}]"#, .other),
        ]
        for (text, packet) in packets { #expect(Self.scan(text) == packet, "\(text)") }
    }

    @Test func cutAndFlippedMessagesDoNoHarm() {
        for text in [Self.preview, Self.commit, Self.group, "431000042[{\"ok\":true}]"] {
            let bytes = Array(text.utf8)
            for end in 0..<bytes.count { bytes[..<end].withUnsafeBytes { _ = Packet($0) } }
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                flipped.withUnsafeBytes { _ = Packet($0) }
            }
        }
    }

    @Test func answersTellRefusals() {
        func answer(_ text: String) -> Answer { Array(text.utf8).withUnsafeBytes { Answer($0) } }
        #expect(answer(#"[{"ok":true,"seq":5,"element":{},"adjusted":[]}]"#) == .applied)
        #expect(answer("[]") == .applied)
        #expect(answer(#"[{"ok":false,"error":{"code":"gap","expected":3}}]"#) == .refused(code: "gap"))
    }

    @Test(arguments: [0, 1, 999_999, 1_000_000, 86_400_000_000, SendTime.last] as [Int64])
    func messagesAreSoundAndCarryTheirTime(time: Int64) throws {
        let (x, y) = SendTime.coordinates(time)
        #expect("\(x)".count == 6 && "\(y)".count == 7)
        for column in [0, 1, 999] as [Int64] {
            #expect(SendTime.time(x: column * SendTime.column + x, y: y) == time)
            var message = MovingMessage(room: "r", element: "e12", isCommit: false, column: Int(column))
            message.stamp(time)
            #expect(message.text.withUnsafeBytes { Packet($0) } == .preview(sentAt: time, folded: 1))
            _ = try Self.data(message.text, prefix: "42")
        }
        var commit = MovingMessage(room: "r", element: "e12", isCommit: true)
        for number in [12_345, nil, 2] as [UInt64?] {
            commit.stamp(time, id: 1_234_567, number: number)
            let document = try Self.data(commit.text, prefix: "421234567")
            #expect(Array(document.root.elements).last?["n"]?.integer == number.map(Int64.init))
        }
        for step in 0..<8 {
            let isCommit = step % 4 == 3
            let text = Request.gesture(
                "r", ["e1", "x0"], at: time, step: step, length: 3, commit: isCommit ? (1_000_000, 7) : nil)
            let document = try Self.data(text, prefix: isCommit ? "421000000" : "42")
            let data = try #require(Array(document.root.elements).last)
            #expect(data["translation"]?["y"]?.integer == (isCommit ? 0 : y))
            #expect(data["elements"]?.elements.compactMap(\.string) == ["e1", "x0"])
            if isCommit { #expect(data["scale"]?.double == (step < 4 ? 1.25 : 0.8)) }
        }
    }

    static func data(_ packet: [UInt8], prefix: String) throws -> JSONDocument {
        #expect(packet.starts(with: prefix.utf8))
        var document = JSONDocument()
        try document.parse(packet.dropFirst(prefix.utf8.count))
        return document
    }
}
