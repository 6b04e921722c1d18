import Canvas
import JSONBytes
import Testing
import Wire

/// What an update's bytes hold: the text of members, and each element whole, once.
@Suite struct UpdateTests {
    private static let texts = ["a", "b", "c"].map { id in
        var element = Element(id: id, type: "note", createdBy: "ada")
        element.extra = [ExtraField(name: "own", json: Array(#""\#(id) and only \#(id)""#.utf8))]
        return element.jsonText
    }

    private static func update(_ event: UpdateEvent) -> Update {
        let elements = self.texts.prefix(event.shape.isSingle ? 1 : 3).enumerated().map { index, json in
            UpdatedElement(
                id: Identifier(["a", "b", "c"][index]), json: event == .deleted ? [] : json, gesture: UInt64(index + 4),
                isNew: event == .changedMany && index == 0,
                part: event.shape.part(of: json, changesAnimation: index == 1))
        }
        return Update(
            shard: 5, gseq: 7, room: "r", seq: 3, event: event, user: "ada", sid: "s", number: 2, elements: elements,
            cause: .redo)
    }

    @Test(arguments: UpdateEvent.allCases)
    func itsElementsComeBackWhole(event: UpdateEvent) throws {
        let update = Self.update(event)
        let back = try decode(Update.self, encode(update))
        #expect(back == update && back.text == update.text && back.elements == update.elements)
        #expect(back.elements.map(\.json) == (event == .deleted ? [[], [], []] : update.elements.map(\.json)))
        #expect(back.entries.allSatisfy { $0.isDeleted == (event == .deleted) })
        #expect(back.entries.map(\.gesture) == update.elements.map(\.gesture))
        guard event != .deleted else { return }
        #expect(back.elements.map(\.json) == Array(Self.texts.prefix(update.entries.count)))
        // What only whole elements have is there once.
        let record = String(decoding: update.bytes, as: UTF8.self)
        for entry in update.entries { #expect(record.count(of: #"\#(entry.id) and only"#) == 1) }
    }

    @Test(arguments: UpdateEvent.allCases)
    func itsTextIsAnEventOfItsName(event: UpdateEvent) throws {
        let update = Self.update(event)
        var document = JSONDocument()
        try document.parse(Array(update.text))
        let parts = Array(document.root.elements)
        #expect(parts.count == 2 && parts.first?.string == event.name)
        #expect(parts.last.map { Array($0.rawBytes) } == Array(update.data))
        let data = try #require(parts.last)
        #expect(data["seq"]?.integer == 3 && data["n"]?.integer == 2 && data["cause"]?.string == "redo")
        let isWhole = String(decoding: update.text, as: UTF8.self).contains("and only")
        #expect(isWhole == ![.deleted, .transformedMany, .updatedMany].contains(event))
    }

    /// However often a peer names the same bytes, its elements take no more memory than its record.
    @Test func elementsAreNoLargerThanTheBodyTogether() {
        let whole = encode(Self.update(.createdMany))
        // Three entries of 20 bytes end the record: name, gesture and flags of each precede its place.
        let first = whole.count - 3 * 20 + 12
        // The body's size follows the header's numbers, its names and the size of the text.
        let size = 42 + 3 + 5 + 3 + 4
        let body = whole[size..<size + 4]
        func isRead(places: [[UInt8]]) -> Bool {
            var bytes = whole
            for (index, place) in places.enumerated() {
                bytes.replaceSubrange(first + index * 20..<first + index * 20 + 8, with: place)
            }
            return decodes(as: Self.update(.createdMany), bytes)
        }
        let (none, all): ([UInt8], [UInt8]) = ([0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0] + body)
        #expect(isRead(places: []) && isRead(places: [none, all, none]))
        #expect(!isRead(places: [all, all, none]))
        #expect(!isRead(places: [none, [1, 0, 0, 0] + body, none]))
    }
}

extension String {
    fileprivate func count(of text: String) -> Int {
        self.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
