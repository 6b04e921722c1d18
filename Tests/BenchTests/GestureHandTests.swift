import JSONBytes
import Testing

@testable import bench

@Suite struct GestureHandTests {
    /// A hand whose element was placed at a time.
    static func hand(_ others: [String] = [], length: Int = 3, placedAt time: Int64 = 1_000_000) -> GestureHand {
        var hand = GestureHand(room: "r", element: "e1", others: others, length: length)
        hand.placing(at: time)
        hand.answered(.applied)
        return hand
    }

    /// The name and the data of an event.
    static func event(_ bytes: [UInt8], prefix: String = "42") throws -> (name: String?, data: JSONDocument) {
        let document = try bytes.withUnsafeBytes { try MessageTests.parse($0, prefix: prefix) }
        return (document.root.elements.first { _ in true }?.string, document)
    }

    @Test func previewsAreSentUntilTheCommitAndNothingUntilItsAnswer() {
        var hand = GestureHand(room: "r", element: "e1", length: 2)
        #expect(hand.next == .placement)
        hand.placing(at: 5)
        #expect(hand.next == .rest)
        hand.answered(.applied)
        for _ in 0..<2 {
            for _ in 0..<2 {
                #expect(hand.next == .preview)
                _ = hand.preview(at: 6)
            }
            #expect(hand.next == .commit)
            _ = hand.commit(at: 7, id: 1_000_000, number: 2)
            #expect(hand.next == .rest)
            hand.answered(.applied)
        }
        #expect(hand.next == .preview)
    }

    @Test func theStoredPositionAndTheDeltaGiveTheTime() throws {
        var hand = Self.hand()
        var stored = SendTime.coordinates(1_000_000)
        for time in [2_345_678, 3_999_999] as [Int64] {
            for bytes in [hand.preview(at: time), hand.commit(at: time, id: 1_000_000, number: 9)] {
                let prefix = bytes.starts(with: "421".utf8) ? "421000000" : "42"
                let data = try #require(Array(try Self.event(bytes, prefix: prefix).data.root.elements).last)
                #expect(data["elementId"]?.string == "e1")
                let x = try #require(data["translation"]?["x"]?.integer)
                let y = try #require(data["translation"]?["y"]?.integer)
                #expect(SendTime.time(x: stored.x + x, y: stored.y + y) == time)
            }
            hand.answered(.applied)
            stored = SendTime.coordinates(time)
        }
    }

    @Test func aRefusedCommitLeavesTheElementWhereItWas() throws {
        var hand = Self.hand(["x0"])
        _ = hand.commit(at: 2_000_000, id: 1_000_000, number: 2)
        hand.answered(.refused(.busy))
        let document = try Self.event(hand.preview(at: 3_000_000)).data
        let data = try #require(Array(document.root.elements).last)
        let (x, y) = SendTime.coordinates(1_000_000)
        #expect(data["pivot"]?["x"]?.integer == x && data["pivot"]?["y"]?.integer == y)
    }

    @Test func aNewConnectionPlacesTheElementAgain() {
        var hand = Self.hand()
        _ = hand.commit(at: 2_000_000, id: 1_000_000, number: 2)
        hand.disconnected()
        #expect(hand.next == .placement)
    }

    @Test func groupsMoveAboutTheirFirstElement() throws {
        var hand = Self.hand(["x0", "x1"])
        let (name, document) = try Self.event(hand.preview(at: 2_000_000))
        #expect(name == "elements:gesturing")
        let data = try #require(Array(document.root.elements).last)
        #expect(data["elements"]?.elements.compactMap(\.string) == ["e1", "x0", "x1"])
        #expect(
            try Self.event(hand.commit(at: 3, id: 1_000_000, number: 2), prefix: "421000000").name == "elements:gesture"
        )
    }

    @Test func noElementGrowsForEver() throws {
        var hand = Self.hand(length: 1)
        var scale = 1.0
        for number in 1...100 as ClosedRange<UInt64> {
            _ = hand.preview(at: 5)
            let document = try Self.event(hand.commit(at: 6, id: 1_000_000, number: number), prefix: "421000000").data
            scale *= try #require(Array(document.root.elements).last?["scale"]?.double)
            #expect((0.5...2).contains(scale))
            hand.answered(.applied)
        }
    }

    @Test func theTimeOfAGroupIsInItsSendersElement() {
        let preview = """
            42["elements:transforming",{"roomId":"r","elements":[{"elementId":"x0","transform":{"rotation":1},"positionX":\
            100500,"positionY":1000500,"after":3},{"elementId":"e7","transform":{"rotation":1},"positionX":100012,\
            "positionY":1345678,"after":3}],"userId":"u","sid":"s","gesture":3,"n":4,"dt":16}]
            """
        #expect(PacketScannerTests.scan(preview) == .preview(sentAt: 12_345_678, folded: 4))
        let commit = """
            42["elements:transformed",{"roomId":"r","elements":[{"id":"x0","positionX":100500,"positionY":1000500},\
            {"id":"e7","type":"note","positionX":100002,"positionY":1000009,"rev":3}],"seq":5,"userId":"u","n":77}]
            """
        #expect(PacketScannerTests.scan(commit) == .commit(sentAt: 2_000_009))
        let others = #"42["elements:transformed",{"roomId":"r","elements":[{"id":"x0","positionX":0}],"seq":5}]"#
        #expect(PacketScannerTests.scan(others) == .commit(sentAt: nil))
    }
}
