import JSONBytes
import Testing

@testable import bench

@Suite struct MessageTests {
    /// Parses the array of a packet, behind its prefix.
    static func parse(_ packet: UnsafeRawBufferPointer, prefix: String) throws -> JSONDocument {
        let bytes = Array(packet)
        #expect(bytes.starts(with: prefix.utf8))
        var document = JSONDocument()
        try document.parse(bytes.dropFirst(prefix.utf8.count))
        return document
    }

    @Test func aPreviewIsSoundJSONAndKeepsItsLength() throws {
        var message = MovingMessage(room: "bench-a-1", element: "e12", isCommit: false)
        var lengths: Set<Int> = []
        for time in [0, 1, 16_384 * 255, 987_654_321_000] as [Int64] {
            try message.preview(at: time) { packet in
                lengths.insert(packet.count)
                let document = try Self.parse(packet, prefix: "42")
                let data = try #require(Array(document.root.elements).last)
                #expect(data["roomId"]?.string == "bench-a-1")
                #expect(data["elementId"]?.string == "e12")
                let (x, y) = SendTime.coordinates(time)
                #expect(data["positionX"]?.integer == x)
                #expect(data["positionY"]?.integer == y)
                let rotation = try #require(data["transform"]?["rotation"]?.double)
                #expect((100..<360).contains(rotation))
            }
        }
        #expect(lengths.count == 1)
    }

    @Test func aCommitCarriesItsAcknowledgementIdAndItsNumber() throws {
        var message = MovingMessage(room: "r", element: "e", isCommit: true)
        for number in [1, 9, 10, 12_345, nil, 2] as [UInt64?] {
            try message.commit(at: 5, id: 1_234_567, number: number) { packet in
                let document = try Self.parse(packet, prefix: "421234567")
                let parts = Array(document.root.elements)
                #expect(parts.first?.string == "element:transform")
                #expect(parts.last?["n"]?.integer == number.map(Int64.init))
            }
        }
    }
}

extension MovingMessage {
    fileprivate mutating func preview(at time: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var failure: (any Error)?
        self.preview(at: time) { packet in
            do { try body(packet) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    fileprivate mutating func commit(
        at time: Int64, id: Int, number: UInt64?, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var failure: (any Error)?
        self.commit(at: time, id: id, number: number) { packet in
            do { try body(packet) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
