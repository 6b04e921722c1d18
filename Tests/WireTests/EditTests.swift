import Canvas
import JSONBytes
import PipelineTestKit
import Testing
import Wire

/// What holds for every kind of edit, and what apps' payloads become.
@Suite struct EditTests {
    private static let payloads: [(event: String, payload: String)] = [
        ("element:transform", #"{"elementId":"a","positionX":1}"#),
        ("element:create", #"{"element":{"id":"a","type":"note","mine":[1]}}"#),
        ("elements:create", #"{"elements":[{"type":"note"},{"id":"b","type":"photo"}]}"#),
        ("element:update", #"{"elementId":"a","set":{"locked":true,"mine":1}}"#),
        ("element:delete", #"{"elementId":"a"}"#),
    ]

    private static func read(_ event: String, _ payload: String, group: Int = 3) throws -> ReadEdit {
        var names = JSONDocument()
        try names.parse(Array("\"\(event)\"".utf8))
        let kind = try #require(allEdits.kind(ofEvent: names.root))
        var document = JSONDocument()
        try document.parse(Array(payload.utf8))
        var reading = EditReading(largestGroup: group, seed: 7)
        return try kind.read(document.root, reading: &reading)
    }

    private static func decodes<Kind: Edit>(_ kind: Kind.Type, _ encoded: EncodedEdit) throws {
        let edit = try encoded.decode(Kind.self)
        #expect(EncodedEdit(edit) == encoded)
        #expect(BodyHash.of(edit) == BodyHash.of(try encoded.decode(Kind.self)))
    }

    @Test func everyKindComesBackFromItsBytes() throws {
        for (event, payload) in Self.payloads {
            let edit = try Self.read(event, payload).edit
            switch edit.tag {
            case TransformElement.tag: try Self.decodes(TransformElement.self, edit)
            case CreateElement.tag: try Self.decodes(CreateElement.self, edit)
            case CreateElements.tag: try Self.decodes(CreateElements.self, edit)
            case UpdateElement.tag: try Self.decodes(UpdateElement.self, edit)
            case DeleteElement.tag: try Self.decodes(DeleteElement.self, edit)
            default: Issue.record("a kind without an example: \(event)")
            }
        }
        #expect(Self.payloads.map(\.event) == allEdits.kinds.map(\.event))
    }

    @Test func eventsAndTagsAreUnique() {
        #expect(Set(allEdits.kinds.map(\.event)).count == allEdits.kinds.count)
        #expect(Set(allEdits.kinds.map(\.tag)).count == allEdits.kinds.count)
    }

    @Test func bytesThatEndEarlyOrGoOnAreRefused() throws {
        for (event, payload) in Self.payloads {
            let edit = try Self.read(event, payload).edit
            for cut in 0..<edit.fields.count {
                let short = EncodedEdit(tag: edit.tag, fields: Array(edit.fields.prefix(cut)))
                #expect(Self.decodesAsItsKind(short) == false, "\(event) cut at \(cut)")
            }
            #expect(Self.decodesAsItsKind(EncodedEdit(tag: edit.tag, fields: edit.fields + [0])) == false)
            #expect(Self.decodesAsItsKind(edit) == true)
        }
    }

    private static func decodesAsItsKind(_ edit: EncodedEdit) -> Bool {
        func decodes<Kind: Edit>(_: Kind.Type) -> Bool { (try? edit.decode(Kind.self)) != nil }
        return switch edit.tag {
        case TransformElement.tag: decodes(TransformElement.self)
        case CreateElement.tag: decodes(CreateElement.self)
        case CreateElements.tag: decodes(CreateElements.self)
        case UpdateElement.tag: decodes(UpdateElement.self)
        default: decodes(DeleteElement.self)
        }
    }

    @Test func onlyTransformsEndGestures() throws {
        for (event, payload) in Self.payloads {
            let read = try Self.read(event, payload)
            #expect(read.gestureElements == (event == "element:transform" ? ["a"] : []), "\(event)")
        }
        #expect(allEdits.kinds.filter { $0.gestures == .ends }.map(\.event) == ["element:transform"])
    }

    @Test func aPayloadAtFaultStillNamesTheGesturesThatItEnds() throws {
        let transform = try #require(allEdits.kind(ofTag: TransformElement.tag))
        let delete = try #require(allEdits.kind(ofTag: DeleteElement.tag))
        for (payload, elements) in [
            (#"{"elementId":"a","positionX":"no"}"#, ["a"]), (#"{"elementId":7}"#, []), ("{}", []),
            (#"{"elements":[{"elementId":"a"},"b",3]}"#, ["a", "b"]),
        ] as [(String, [Identifier])] {
            var document = JSONDocument()
            try document.parse(Array(payload.utf8))
            #expect(transform.gestureElements(in: document.root) == ShortList(elements))
            #expect(delete.gestureElements(in: document.root) == [])
        }
    }

    @Test func theElementOfARefusalIsTheOneThatTheEditIsAbout() throws {
        let elements = try Self.payloads.map { try Self.read($0.event, $0.payload).edit.soleElement }
        #expect(elements == ["a", nil, nil, "a", "a"])
        #expect(EncodedEdit(tag: 255, fields: [1, 2]).soleElement == nil)
    }

    @Test(arguments: [
        ("element:transform", #"{"elementId":"a"}"#, "invalid transform"),
        ("element:transform", #"{"positionX":1}"#, "invalid elementId"),
        ("element:create", "{}", "invalid element"),
        ("element:create", #"{"element":{}}"#, "invalid element.type"),
        ("elements:create", #"{"elements":[]}"#, "invalid elements"),
        ("elements:create", #"{"elements":[{},{},{},{}]}"#, "too_large elements"),
        ("elements:create", #"{"elements":[{"type":"a","id":"x"},{"type":"b","id":"x"}]}"#, "invalid elements[1].id"),
        ("element:update", #"{"elementId":"a","set":[]}"#, "invalid set"),
        ("element:update", #"{"elementId":"a","set":{"rotation":1}}"#, "invalid set.rotation"),
        ("element:delete", #"{"elementId":""}"#, "invalid elementId"),
    ])
    func faultsNameTheirField(event: String, payload: String, fault: String) {
        let refusal = #expect(throws: Refusal.self) { try Self.read(event, payload) }
        #expect(refusal.map { "\($0.code.name) \($0.field ?? "")" } == fault)
    }

    @Test func idsThatTheGatewayMadeAreNoPartOfTheBody() throws {
        func hash(_ id: Identifier, generated: Bool) throws -> UInt64 {
            let json = Array(#"{"type":"note"}"#.utf8)
            return BodyHash.of(CreateElement(try NewItem(id: id, idIsGenerated: generated, json: json)))
        }
        #expect(try hash("x", generated: true) == hash("y", generated: true))
        #expect(try hash("x", generated: false) != hash("y", generated: false))
    }

    @Test func kindsWithTheSameFieldsAreDifferentBodies() throws {
        let item = try NewItem(id: "x", idIsGenerated: false, json: Array(#"{"type":"note"}"#.utf8))
        #expect(BodyHash.of(CreateElement(item)) != BodyHash.of(CreateElements([item])))
    }
}
