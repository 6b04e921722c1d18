// What an app writes: TouchSyncClient is its only import of this package.
import Foundation
import Testing
import TouchSyncClient

/// Fields of elements that only the app understands, and elements as values of an app.
@Suite(.timeLimit(.minutes(1))) struct OwnFieldsTests {
    private struct Style: Codable, Equatable, Sendable {
        var tint: String
        var weights: [Double]
    }

    @Test func aNewNoteHasItsTextAndTypedFields() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        var note = NewElement(type: "note")
        note.content = "Milk"
        note["style", as: Style.self] = Style(tint: "red", weights: [0.5, 2])
        note["votes", as: Int.self] = 3
        note["draft", as: Bool.self] = true
        note["draft", as: Bool.self] = nil
        #expect(note.content == "Milk" && note["votes", as: Int.self] == 3 && note["draft", as: Bool.self] == nil)
        let id = try #require(room.create(note).elementIds.first)
        #expect(try await connection.heard().contains(#""content":"Milk""#))
        let shown = try #require(await room.element(id))
        #expect(shown.content == "Milk" && shown["votes", as: Int.self] == 3)
        #expect(shown["style", as: Style.self] == Style(tint: "red", weights: [0.5, 2]))
        #expect(shown["votes", as: String.self] == nil, "a number is no text")
    }

    @Test func anUpdateSetsAndRemovesThem() async throws {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        var changes = ElementChanges()
        changes.content = .set("Bread")
        changes["tint", as: String.self] = .set("blue")
        #expect(changes.content == .set("Bread") && changes["size", as: Int.self] == nil)
        room.update("a", changes)
        #expect(try await connection.heard().contains(#""set":{"content":"Bread","tint":"blue"}"#))
        #expect(await room.element("a")?.content == "Bread")
        changes = ElementChanges()
        changes.content = .remove
        #expect(changes.content == .remove)
        room.update("a", changes)
        #expect(await room.element("a")?.content == nil)
        #expect(await room.element("a")?["tint", as: String.self] == "blue")
    }

    @Test func aValueThatIsNoJSONIsRefusedByItsName() async throws {
        let fixture = try Fixture()
        let room = fixture.client.room("demo")
        var note = NewElement(type: "note")
        note["weight", as: Double.self] = .infinity
        let edit = room.create(note)
        let error = await #expect(throws: ClientError.self) { try await edit.result }
        #expect(error?.code == .invalid && error?.field == "weight")
        #expect(await room.elements.isEmpty)
    }

    @Test func anElementIsAValueOfTheApp() async throws {
        let text =
            #"{"id":"é","type":"note","positionX":3.5,"rev":9007199254740993,"own":{"list":[1,true,null,"x"],"n":-1.5}}"#
        let element = try JSONDecoder().decode(Element.self, from: Data(text.utf8))
        #expect((element.id, element.positionX, element.rev) == ("é", 3.5, 9_007_199_254_740_993))
        #expect(element["own", as: [String: Either].self]?["n"] == .number(-1.5))
        let again = try JSONDecoder().decode(Element.self, from: JSONEncoder().encode(element))
        #expect(again == element && again.hashValue == element.hashValue)
        #expect(Set([element, again]).count == 1)
        var moved = element
        moved.positionX = 4
        #expect(moved != element && Set([element, moved]).count == 2)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Element.self, from: Data(#"{"type":"note"}"#.utf8))
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Element.self, from: Data("[]".utf8)) }
        let deep = #"{"id":"a","own":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}"
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Element.self, from: Data(deep.utf8)) }
    }

    private enum Either: Decodable, Equatable {
        case number(Double)
        case other

        init(from decoder: any Decoder) throws {
            self = (try? decoder.singleValueContainer().decode(Double.self)).map(Either.number) ?? .other
        }
    }
}
