import Canvas
import JSONBytes
import Testing
import Wire

@testable import GatewayCore

@Suite("Batches of previews")
struct BatchTests {
    private static func text(_ element: Int, filler: Int = 0) -> PreviewText {
        PreviewText(
            sender: nil,
            preview: Preview(
                room: "r", element: Identifier("e\(element)" + String(repeating: "x", count: filler)), connection: 1,
                user: "ada", sid: "s", gesture: 1, fields: TransformFields()))
    }

    private static func events(of batch: [UInt8]) throws -> [String] {
        var document = JSONDocument()
        try document.parse(batch)
        let message = Array(document.root.elements)
        guard message.first?.string == "previews:batch" else { return [] }
        return message[1]["events"].map { Array($0.elements).map { Self.string(Array($0.rawBytes)) } } ?? []
    }

    private static func string(_ json: [UInt8]) -> String { String(decoding: json, as: UTF8.self) }

    @Test func severalComeTogetherAndOneAsItIs() throws {
        let texts = (0..<3).map { Self.text($0) }
        let batches = PreviewText.batches(of: texts)
        #expect(try batches.map(Self.events) == [texts.map { Self.string($0.json) }])
        #expect(PreviewText.batches(of: [texts[0]]) == [texts[0].json])
        #expect(PreviewText.batches(of: []).isEmpty)
    }

    @Test func aMessageHasABoundAndNothingIsLostAtIt() throws {
        let texts = (0..<500).map { Self.text($0, filler: 100) } + [Self.text(500, filler: 200_000)] + [Self.text(501)]
        let batches = PreviewText.batches(of: texts)
        #expect(batches.count > 2 && batches.contains(texts[500].json))
        #expect(batches.filter { $0 != texts[500].json }.allSatisfy { $0.count < 129 * 1024 })
        let events = try batches.flatMap { batch in
            let events = try Self.events(of: batch)
            return events.isEmpty ? [Self.string(batch)] : events
        }
        #expect(events == texts.map { Self.string($0.json) })
    }
}
