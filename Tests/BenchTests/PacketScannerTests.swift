import Testing

@testable import bench

@Suite struct PacketScannerTests {
    static func scan(_ text: String) -> PacketScanner.Packet {
        Array(text.utf8).withUnsafeBytes { PacketScanner.scan($0) }
    }

    static let preview = """
        42["element:transforming",{"roomId":"bench-1","elementId":"e7","userId":"u","sid":"s","transform":{"rotation":\
        100.5},"positionX":100012,"positionY":1345678,"gesture":3,"after":17,"n":4,"dt":16}]
        """
    static let commit = """
        42["element:transformed",{"roomId":"bench-1","element":{"id":"e7","type":"note","positionX":100002,"positionY":\
        1000009,"width":100,"rotation":12.5},"seq":5,"userId":"u","sid":"s","n":77}]
        """

    static let group = """
        42["elements:transforming",{"roomId":"r","elements":[{"elementId":"e7","positionX":100012,"positionY":1345678}],\
        "gesture":3,"n":4,"dt":16}]
        """

    @Test func eachPreviewOfABatch() {
        let events = [Self.preview, Self.group, #"42["selection:changed",{"elementIds":["a","b"]}]"#, Self.preview]
        let text = #"42["previews:batch",{"events":[\#(events.map { $0.dropFirst(2) }.joined(separator: ","))]}]"#
        #expect(Self.scan(text) == .batch)
        let found = Array(text.utf8).withUnsafeBytes { PacketScanner.events(ofBatch: $0) }
        let preview = PacketScanner.Packet.preview(sentAt: 12_345_678, folded: 4)
        #expect(found.filter { $0 != .event } == [preview, preview, preview])
    }

    @Test func aPreviewsTimeAndFolding() {
        #expect(Self.scan(Self.preview) == .preview(sentAt: 12_345_678, folded: 4))
    }

    @Test func aPreviewThatAPlainServerRelaysAsItWasSent() {
        var message = MovingMessage(room: "bench-1", element: "e7", isCommit: false)
        for time in [0, 999_999, 1_000_000, 3_723_000_042] as [Int64] {
            message.preview(at: time) { #expect(PacketScanner.scan($0) == .preview(sentAt: time, folded: 1)) }
        }
        let relayed = #"42["element:transforming", {"roomId": "r", "positionX": 100001, "positionY": 1000002}]"#
        #expect(Self.scan(relayed) == .preview(sentAt: 1_000_002, folded: 1))
    }

    @Test func aCommitsTime() {
        #expect(Self.scan(Self.commit) == .commit(sentAt: 2_000_009))
    }

    @Test func somebodyElsesMovesHaveNoTime() {
        #expect(
            Self.scan(#"42["element:transforming",{"elementId":"e","transform":{},"positionX":80,"positionY":60}]"#)
                == .preview(sentAt: nil, folded: 1))
        #expect(
            Self.scan(#"42["element:transforming",{"elementId":"e","transform":{"rotation":3},"n":2,"dt":16}]"#)
                == .preview(sentAt: nil, folded: 2))
        #expect(
            Self.scan(#"42["element:transformed",{"element":{"positionX":-100001,"positionY":1.5}}]"#)
                == .commit(sentAt: nil))
    }

    @Test func whatElseThereIs() {
        #expect(Self.scan("") == .unknown)
        #expect(Self.scan("0{\"sid\":\"x\"}") == .open)
        #expect(Self.scan("1") == .close)
        #expect(Self.scan("2") == .ping)
        #expect(Self.scan("40{\"sid\":\"x\"}") == .connected)
        #expect(Self.scan("41") == .disconnected)
        #expect(Self.scan("44{\"message\":\"no\"}") == .refused)
        #expect(Self.scan("431000042[{\"ok\":true}]") == .acknowledgement(id: 1_000_042, body: 9))
        #expect(Self.scan("430[]") == .acknowledgement(id: 0, body: 3))
        #expect(Self.scan("43[]") == .unknown)
        #expect(Self.scan("43999999999999999999999[]") == .unknown)
        #expect(Self.scan(#"42["element:transform",{"roomId":"r"}]"#) == .event)
        #expect(Self.scan(#"42["member:joined",{"roomId":"r","userId":"u"}]"#) == .event)
        #expect(Self.scan("4") == .unknown)
    }

    @Test func cutAndFlippedMessagesDoNoHarm() {
        for text in [Self.preview, Self.commit, Self.group, "431000042[{\"ok\":true}]"] {
            let bytes = Array(text.utf8)
            for end in 0..<bytes.count { bytes[..<end].withUnsafeBytes { _ = PacketScanner.scan($0) } }
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                flipped.withUnsafeBytes { _ = PacketScanner.scan($0) }
            }
        }
    }
}
