import FanoutCore
import JSONBytes
import Testing
import Wire

@Suite struct LogRowTests {
    private static func row(
        _ event: String, element: Identifier? = nil, before: String? = nil, after: String? = nil,
        session: Identifier = "sid", gestures: [EndedGesture] = []
    ) -> LogRow {
        LogRow(
            shard: 5, gseq: 9, room: "r", seq: 3, event: event, user: "ann", session: session, number: 4,
            gestures: gestures, hash: -6, chain: 77, element: element, before: before.map { Array($0.utf8) },
            after: after.map { Array($0.utf8) })
    }

    private static func elements(_ row: LogRow) -> [UpdatedElement]? {
        var document = JSONDocument()
        return row.update(with: &document)?.elements
    }

    @Test func aRowIsTheUpdateThatWasPublished() {
        var document = JSONDocument()
        let text = #"{"id":"e", "x":1.50}"#
        let update = Self.row(
            "element:transformed", element: "e", after: text, gestures: [EndedGesture(element: "e", gesture: 2)]
        ).update(with: &document)
        #expect(
            update
                == Update(
                    shard: 5, gseq: 9, room: "r", seq: 3, event: .transformed, user: "ann", sid: "sid", number: 4,
                    link: HistoryChain.link(
                        gseq: 9, room: "r", seq: 3, session: "sid", number: 4, body: UInt64(bitPattern: -6)),
                    chain: 77, elements: [UpdatedElement(id: "e", json: Array(text.utf8), gesture: 2)]))
    }

    @Test func aNumberOfTheGatewayIsNotShown() {
        var document = JSONDocument()
        let row = Self.row("element:updated", element: "e", after: "{}", session: "sid.2")
        let update = row.update(with: &document)
        #expect(update?.sid == "sid")
        #expect(update?.number == 0)
    }

    @Test func severalElementsComeFromTheirArray() {
        let created = Self.row("elements:created", after: #"[{"id":"a","v":1}, {"id":"b"}]"#)
        #expect(
            Self.elements(created) == [
                UpdatedElement(id: "a", json: Array(#"{"id":"a","v":1}"#.utf8)),
                UpdatedElement(id: "b", json: Array(#"{"id":"b"}"#.utf8)),
            ])
        let deleted = Self.row("element:deleted", element: "a", before: #"[{"id":"a"},{"id":"b"}]"#)
        #expect(
            Self.elements(deleted) == [UpdatedElement(id: "a", json: []), UpdatedElement(id: "b", json: [])])
    }

    @Test func rowsThatMakeNoSenseAreNone() {
        var document = JSONDocument()
        #expect(Self.elements(Self.row("element:vanished", element: "a", after: "{}")) == nil)
        #expect(Self.elements(Self.row("element:transformed")) == nil)
        #expect(Self.elements(Self.row("elements:created", after: "{}")) == nil)
        #expect(Self.elements(Self.row("elements:created", after: "[{}]")) == nil)
        #expect(Self.elements(Self.row("element:deleted", before: "[")) == nil)
        var row = Self.row("element:updated", element: "e", after: "{}")
        row.shard = 64
        #expect(row.update(with: &document) == nil)
    }
}
