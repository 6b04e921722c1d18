import Canvas
import JSONBytes
import Testing

@Suite struct GeometryTextTests {
    private static func text(of element: Element) -> [UInt8] {
        var writer = JSONWriter()
        element.encode(into: &writer)
        return writer.bytes
    }

    /// The members of a JSON object as pairs of texts.
    private static func members(_ json: [UInt8]) throws -> [String: String] {
        var document = JSONDocument()
        try document.parse(json)
        var members: [String: String] = [:]
        for (key, value) in document.root.members {
            members[key.string ?? "?"] = String(decoding: value.rawBytes, as: UTF8.self)
        }
        return members
    }

    @Test(arguments: ["a", #"","createdBy":"#, #"x\",\"rev\":7"#, "é,\u{1F600}", #"\"#])
    func hasWhereTheElementIsAndNothingElse(id: String) throws {
        var element = Element(id: id, type: id, createdBy: #"ann,"rev":99"#)
        element.positionX = -4
        element.rotation = 12.5
        element.rev = 41
        element.fontSize = 20
        element.extra = [ExtraField(name: "rev2", json: Array(#"{"createdBy":"x","rev":5}"#.utf8))]
        let whole = try Self.members(Self.text(of: element))
        let geometry = try Self.members(ElementText(Self.text(of: element)).geometry())
        #expect(
            Set(geometry.keys) == [
                "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY",
                "originalWidth", "originalHeight", "anchorX", "anchorY", "rev",
            ])
        #expect(geometry.allSatisfy { whole[$0.key] == $0.value })
    }

    @Test func leavesOtherTextAsItIs() {
        for text in ["{}", "", "[1]", #"{"id":"a","createdBy":"b"}"#] {
            #expect(ElementText(Array(text.utf8)).geometry() == Array(text.utf8))
        }
    }
}
