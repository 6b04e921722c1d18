import FanoutCore
import JSONBytes
import Testing
import Wire

@Suite struct LoggedUpdateTests {
    private static func update(
        _ event: String, shard: Int = 5, element: Identifier? = nil, before: String? = nil, after: String? = nil,
        session: Identifier = "sid", gestures: [EndedGesture] = []
    ) -> Update? {
        var document = JSONDocument()
        return Update(
            loggedIn: shard, gseq: 9, room: "r", seq: 3, event: event, user: "ann", session: session, number: 4,
            gestures: gestures, hash: -6, chain: 77, element: element, before: before.map { Array($0.utf8) },
            after: after.map { Array($0.utf8) }, cause: nil, with: &document)
    }

    @Test func aRowIsTheUpdateThatWasPublished() {
        let text = #"{"id":"e", "x":1.50}"#
        let update = Self.update(
            "element:transformed", element: "e", after: text, gestures: [EndedGesture(element: "e", gesture: 2)])
        #expect(
            update
                == Update(
                    shard: 5, gseq: 9, room: "r", seq: 3, event: .transformed, user: "ann", sid: "sid", number: 4,
                    link: HistoryChain.link(
                        gseq: 9, room: "r", seq: 3, session: "sid", number: 4, body: UInt64(bitPattern: -6)),
                    chain: 77, elements: [UpdatedElement(id: "e", json: Array(text.utf8), gesture: 2)]))
    }

    @Test func aNumberOfTheGatewayIsNotShown() {
        let update = Self.update("element:updated", element: "e", after: "{}", session: "sid.2")
        #expect(update?.sid == "sid")
        #expect(update?.number == 0)
    }

    @Test func severalElementsComeFromTheirArray() {
        let created = Self.update("elements:created", after: #"[{"id":"a","v":1}, {"id":"b"}]"#)
        #expect(
            created?.elements == [
                UpdatedElement(id: "a", json: Array(#"{"id":"a","v":1}"#.utf8)),
                UpdatedElement(id: "b", json: Array(#"{"id":"b"}"#.utf8)),
            ])
        let deleted = Self.update("element:deleted", element: "a", before: #"[{"id":"a"},{"id":"b"}]"#)
        #expect(
            deleted?.elements == [UpdatedElement(id: "a", json: []), UpdatedElement(id: "b", json: [])])
    }

    @Test func rowsThatMakeNoSenseAreNone() {
        #expect(Self.update("element:vanished", element: "a", after: "{}") == nil)
        #expect(Self.update("element:transformed") == nil)
        #expect(Self.update("elements:created", after: "{}") == nil)
        #expect(Self.update("elements:created", after: "[{}]") == nil)
        #expect(Self.update("element:deleted", before: "[") == nil)
        #expect(Self.update("element:updated", shard: 64, element: "e", after: "{}") == nil)
    }
}
