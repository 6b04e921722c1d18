import Canvas
import JSONBytes
import Testing
import Wire

@testable import GatewayCore

@Suite("Batches of previews")
struct BatchTests {
    private static func preview(_ element: Int, filler: Int = 0, group: GroupRole = .alone) -> Preview {
        Preview(
            room: "r", element: Identifier("e\(element)" + String(repeating: "x", count: filler)), connection: 1,
            user: "ada", sid: "s", gesture: 1, fields: TransformFields(), group: group)
    }

    private static func text(_ element: Int, filler: Int = 0) -> PreviewText {
        PreviewText(sender: nil, preview: Self.preview(element, filler: filler))
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

    // MARK: What waited

    /// Takes everything, in parts.
    private static func parts(of previews: [Preview], bytes: Int) -> [[PreviewText]] {
        var rest = RoomShow(previews: previews[...])
        var parts: [[PreviewText]] = []
        while !rest.isEmpty { parts.append(PreviewText.takeTexts(from: &rest, bytes: bytes)) }
        return parts
    }

    @Test func whatWaitedIsTakenInPartsAndNothingIsLost() {
        let previews = (0..<300).map { Self.preview($0, filler: $0 == 150 ? 10_000 : 50) }
        let parts = Self.parts(of: previews, bytes: 8000)
        let sizes = parts.map { part in part.reduce(0) { $0 + $1.json.count } }
        #expect(sizes.count { $0 > 8000 } == 1 && sizes.count > 5 && sizes.count < 16)
        #expect(parts.joined().flatMap(\.previews) == previews)
    }

    @Test func aGroupThatWaitedIsDividedWhenItIsLargerThanAPart() {
        let group = (0..<500).map { Self.preview($0, group: $0 == 499 ? .last : .member) }
        #expect(Self.parts(of: group, bytes: 65_536).map { $0.map(\.previews.count) } == [[500]])
        let parts = Self.parts(of: group, bytes: 8000)
        #expect(parts.count > 1 && parts.joined().flatMap(\.previews) == group)
        #expect(parts.joined().allSatisfy { $0.json.count < 16_000 })
    }

    @Test func twoPreviewsOfAGroupAreTwoMessagesAndEachCounts() {
        let first = (0..<3).map { Self.preview($0, group: $0 == 2 ? .last : .member) }
        // The last one of the second preview was overtaken by a commit.
        let texts = PreviewText.texts(of: RoomShow(previews: (first + first.dropLast() + first)[...])) { _ in nil }
        #expect(texts.map(\.previews.count) == [3, 2, 3])
    }

    /// Two hands move groups at once, one of them other elements by now: of each the latest is one message.
    @Test func theLatestPreviewOfAGroupIsOneMessageHoweverOftenItWasReplaced() {
        func group(_ elements: Range<Int>, by connection: UInt64) -> [Preview] {
            elements.map { element in
                var preview = Self.preview(element, group: element == elements.upperBound - 1 ? .last : .member)
                preview.connection = connection
                return preview
            }
        }
        var held = HeldPreviews()
        for round in 0..<3 {
            held.add(RoomShow(previews: (group(0..<3, by: 1) + group(5..<8, by: 2))[...]))
            if round == 2 { held.add(RoomShow(previews: group(1..<4, by: 1)[...])) }
        }
        let texts = PreviewText.texts(of: held.takeAll()) { _ in nil }
        #expect(
            texts.map { $0.previews.map { $0.element.text } } == [["e0"], ["e5", "e6", "e7"], ["e1", "e2", "e3"]])
        #expect(texts.map { $0.previews.map(\.folded) } == [[3], [3, 3, 3], [4, 4, 1]])
    }
}
