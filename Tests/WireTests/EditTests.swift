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
        ("element:update", #"{"elementId":"a","set":{"locked":true,"zIndex":null,"originalWidth":5,"mine":1}}"#),
        ("element:delete", #"{"elementId":"a"}"#),
        (
            "elements:transform",
            #"{"elements":[{"elementId":"a","positionX":1},{"elementId":"b","transform":{"rotation":9}}]}"#
        ),
        ("elements:delete", #"{"elementIds":["a","b"]}"#),
        (
            "element:gesture",
            #"{"elementId":"a","translation":{"x":1,"y":-2},"scale":1.5,"rotation":30,"anchor":{"x":0,"y":1}}"#
        ),
        ("elements:gesture", #"{"elements":["a","b"],"pivot":{"x":5,"y":6},"tilt":{"x":2,"y":3}}"#),
        ("element:preset", #"{"elementId":"a","preset":"flipX"}"#),
        ("history:undo", "{}"),
        ("history:redo", #"{"past":9}"#),
        (
            "element:animate",
            #"{"elementId":"a","animation":{"ms":500,"tracks":{"opacity":[{"at":0,"value":0,"curve":{"steps":3}}]}}}"#
        ),
        ("elements:animate", #"{"elements":["a","b"],"animation":null,"staggerMs":20}"#),
        ("element:halt", #"{"elementId":"a","fields":["rotation","positionX"],"at":1750000000000.5}"#),
        ("elements:halt", #"{"elements":["a","b"]}"#),
        (
            "element:throw",
            #"{"elementId":"a","positionX":5,"velocity":{"x":900,"y":-1},"angularVelocity":90,"snap":{"grid":{"x":8}}}"#
        ),
        (
            "elements:throw",
            #"{"elements":[{"elementId":"a"},{"elementId":"b","positionY":1}],"velocity":{"x":0,"y":9},"bounce":0}"#
        ),
    ]

    /// A commit of each payload.
    static func commits() throws -> [Commit] {
        try self.payloads.map { event, payload in
            Commit(
                room: "r1", session: "s", sessionEpoch: 1, number: 1, user: "u", connection: 5, gateway: "g",
                gestures: [],
                edit: try self.read(event, payload).edit)
        }
    }

    private static func read(_ event: String, _ payload: String, group: Int = 3) throws -> ReadEdit {
        var names = JSONDocument()
        try names.parse(Array("\"\(event)\"".utf8))
        let kind = try #require(allEdits.kind(ofEvent: names.root))
        var document = JSONDocument()
        try document.parse(Array(payload.utf8))
        var reading = EditReading(largestGroup: group, seed: 7)
        return try kind.read(document.root, reading: &reading)
    }

    /// By tag: whether bytes are the encoding of an edit of that kind.
    private static let decoders = Dictionary(
        uniqueKeysWithValues: [
            decoder(TransformElement.self), decoder(CreateElement.self), decoder(CreateElements.self),
            decoder(UpdateElement.self), decoder(DeleteElement.self), decoder(TransformElements.self),
            decoder(DeleteElements.self), decoder(GestureElement.self), decoder(GestureElements.self),
            decoder(PresetElement.self), decoder(UndoEdit.self), decoder(RedoEdit.self),
            decoder(AnimateElement.self), decoder(AnimateElements.self), decoder(HaltElement.self),
            decoder(HaltElements.self), decoder(ThrowElement.self), decoder(ThrowElements.self),
        ])

    private static func decoder<Kind: Edit>(_: Kind.Type) -> (UInt8, @Sendable (EncodedEdit) -> Bool) {
        (
            Kind.traits.tag,
            { encoded in
                guard let edit = try? encoded.decode(Kind.self), let again = try? EncodedEdit(edit).decode(Kind.self)
                else { return false }
                return EncodedEdit(edit) == encoded && again == edit && EncodedEdit(again).bodyHash == encoded.bodyHash
            }
        )
    }

    @Test func everyKindComesBackFromItsBytes() throws {
        for (event, payload) in Self.payloads {
            let edit = try Self.read(event, payload).edit
            let decodes = try #require(Self.decoders[edit.tag], "a kind without an example: \(event)")
            #expect(decodes(edit), "\(event)")
            #expect(edit.groupSize == (event.hasPrefix("elements:") ? 2 : 0), "\(event)")
        }
        #expect(Self.payloads.map(\.event) == allEdits.kinds.map(\.traits.event))
    }

    @Test func eventsAndTagsAreUnique() {
        #expect(Set(allEdits.kinds.map(\.traits.event)).count == allEdits.kinds.count)
        #expect(Set(allEdits.kinds.map(\.traits.tag)).count == allEdits.kinds.count)
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

    private static func decodesAsItsKind(_ edit: EncodedEdit) -> Bool? { Self.decoders[edit.tag]?(edit) }

    @Test func onlyTransformsAndThrowsEndGestures() throws {
        let one = ["element:transform", "element:gesture", "element:preset", "element:throw"]
        let groups = ["elements:transform", "elements:gesture", "elements:throw"]
        for (event, payload) in Self.payloads {
            let read = try Self.read(event, payload)
            let ended: ShortList<Identifier> = groups.contains(event) ? ["a", "b"] : one.contains(event) ? ["a"] : []
            #expect(read.gestureElements == ended, "\(event)")
        }
    }

    @Test func aPayloadAtFaultStillNamesTheGesturesThatItEnds() throws {
        let transform = try #require(allEdits.kind(ofTag: TransformElement.traits.tag))
        let delete = try #require(allEdits.kind(ofTag: DeleteElement.traits.tag))
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

    @Test func theUndoPolicyIsPartOfABodysIdentity() {
        let plain = EncodedEdit(DeleteElement(element: "a"))
        var hashes: Set<UInt64> = [plain.bodyHash]
        for policy in [UndoPolicy.none, .group("a"), .group("b"), .group("none")] {
            var edit = plain
            edit.undo = policy
            hashes.insert(edit.bodyHash)
        }
        #expect(hashes.count == 5)
        #expect(plain.identity(of: 7) == 7)
    }

    @Test func removingSettingAndLeavingAFieldAreDifferentBodies() throws {
        let bounds = #"{"x":0,"y":0,"width":0,"height":0}"#
        let sets = [
            "", #""zIndex":null"#, #""zIndex":0"#, #""fontSize":null"#, #""snapDegrees":null"#, #""bounds":null"#,
            #""bounds":\#(bounds)"#, #""own":null"#, #""own":[null]"#, #""own":"""#, #""originalWidth":1"#,
            #""originalHeight":1"#, #""constraints":null"#, #""constraints":{}"#, #""constraints":{"axis":"x"}"#,
            #""constraints":{"grid":{"x":1}}"#, #""constraints":{"grid":{"offsetX":1}}"#,
        ]
        let hashes = try sets.map {
            try Self.read("element:update", #"{"elementId":"a","set":{\#($0)}}"#).edit.bodyHash
        }
        #expect(Set(hashes).count == sets.count)
        let turned = try Self.read("element:update", #"{"elementId":"a","set":{"own":null, "zIndex" : null}}"#)
        let plain = try Self.read("element:update", #"{"elementId":"a","set":{"zIndex":null,"own":null}}"#)
        #expect(turned.edit.bodyHash == plain.edit.bodyHash)
    }

    @Test func theElementOfARefusalIsTheOneThatTheEditIsAbout() throws {
        let elements = try Self.payloads.map { try Self.read($0.event, $0.payload).edit.soleElement }
        #expect(elements == ["a", nil, nil, "a", "a", nil, nil, "a", nil, "a", nil, nil, "a", nil, "a", nil, "a", nil])
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
        ("element:update", #"{"elementId":"a","set":{"locked":null}}"#, "invalid set.locked"),
        ("element:update", #"{"elementId":"a","set":{"originalWidth":0}}"#, "invalid set.originalWidth"),
        ("element:create", #"{"element":{"type":"a","zIndex":null}}"#, "invalid element.zIndex"),
        ("element:delete", #"{"elementId":""}"#, "invalid elementId"),
        ("elements:transform", "{}", "invalid elements"),
        ("elements:transform", #"{"elements":{}}"#, "invalid elements"),
        ("elements:transform", #"{"elements":[7]}"#, "invalid elements[0].elementId"),
        ("elements:transform", #"{"elements":[{"elementId":"a"}]}"#, "invalid elements[0].transform"),
        (
            "elements:transform",
            #"{"elements":[{"elementId":"a","positionX":1},{"elementId":"b","transform":{"rotation":"x"}}]}"#,
            "invalid elements[1].transform.rotation"
        ),
        (
            "elements:transform",
            #"{"elements":[{"elementId":"a","positionX":1},{"elementId":"a","positionY":1}]}"#,
            "invalid elements[1].elementId"
        ),
        ("elements:transform", #"{"elements":[{},{},{},{}]}"#, "too_large elements"),
        ("elements:delete", #"{"elementIds":[]}"#, "invalid elementIds"),
        ("elements:delete", #"{"elementIds":["a",null]}"#, "invalid elementIds[1]"),
        ("elements:delete", #"{"elementIds":["a","a"]}"#, "invalid elementIds[1]"),
        ("elements:delete", #"{"elementIds":["a","b","c","d"]}"#, "too_large elementIds"),
        ("element:gesture", #"{"elementId":"a"}"#, "invalid translation"),
        ("element:gesture", #"{"elementId":"a","translation":{"x":1}}"#, "invalid translation.y"),
        ("element:gesture", #"{"elementId":"a","scale":"2"}"#, "invalid scale"),
        ("element:gesture", #"{"elementId":"a","scale":{"x":1,"y":null}}"#, "invalid scale.y"),
        ("element:gesture", #"{"elementId":"a","rotation":null}"#, "invalid rotation"),
        ("element:gesture", #"{"elementId":"a","rotation":1,"anchor":[0,0]}"#, "invalid anchor"),
        ("element:gesture", #"{"elementId":"a","tilt":{"x":1}}"#, "invalid tilt.y"),
        ("elements:gesture", #"{"elements":["a"],"rotation":1}"#, "invalid pivot"),
        ("elements:gesture", #"{"elements":["a"],"pivot":{"x":1,"y":1}}"#, "invalid translation"),
        ("elements:gesture", #"{"elements":[{"elementId":"a"}],"pivot":{"x":1,"y":1}}"#, "invalid elements[0]"),
        ("element:preset", #"{"elementId":"a"}"#, "invalid preset"),
        ("element:preset", #"{"elementId":"a","preset":"rotate"}"#, "invalid preset"),
        ("history:undo", #"{"past":0}"#, "invalid past"),
        ("history:undo", #"{"past":"7"}"#, "invalid past"),
        ("history:undo", #"{"past":null}"#, "invalid past"),
        ("history:redo", #"{"past":-1}"#, "invalid past"),
        ("history:redo", #"{"past":1.5}"#, "invalid past"),
    ])
    func faultsNameTheirField(event: String, payload: String, fault: String) {
        let refusal = #expect(throws: Refusal.self) { try Self.read(event, payload) }
        #expect(refusal.map { "\($0.code.name) \($0.field ?? "")" } == fault)
    }

    @Test func theEntryToGoPastIsPartOfTheBody() throws {
        let hashes = try ["{}", #"{"past":7}"#, #"{"past":8}"#].map { try Self.read("history:undo", $0).edit.bodyHash }
        #expect(Set(hashes).count == 3)
    }

    /// A refusal is stored as apps get it, and a repeated commit gets the same.
    @Test func aStoredRefusalIsReadAsItWas() throws {
        let refusal = try #require(Samples.blocked.refusal)
        var writer = JSONWriter()
        refusal.encode(into: &writer)
        let text =
            #"{"code":"conflict","message":"m","field":"undo","by":"ben","entry":{"seq":7,"#
            + #""event":"elements:created","elementIds":["e","f"]}}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        var document = JSONDocument()
        try document.parse(writer.bytes)
        #expect(Refusal(json: document.root) == refusal)
        let entry = BlockedEntry(seq: 1, event: .deleted, elements: Array(repeating: "e", count: 501))
        #expect(entry.elements.count == 500)
    }

    @Test func idsThatTheGatewayMadeAreNoPartOfTheBody() {
        func hash(_ id: Identifier, generated: Bool) -> UInt64 {
            let json = Array(#"{"type":"note"}"#.utf8)
            return EncodedEdit.create(SentItem(id: id, idIsGenerated: generated, json: json)).bodyHash
        }
        #expect(hash("x", generated: true) == hash("y", generated: true))
        #expect(hash("x", generated: false) != hash("y", generated: false))
    }

    @Test func groupsWithoutFieldsForgedOnALinkAreReadAndRefusedLater() throws {
        #expect(try EncodedEdit(DeleteElements([])).decode(DeleteElements.self).ids == [])
        let item = TransformElement(element: "a", fields: TransformFields())
        let refusal = #expect(throws: Refusal.self) {
            try EncodedEdit(TransformElements([item])).decode(TransformElements.self)
        }
        #expect(refusal?.field == "elements[0].transform")
    }

    @Test func gesturesThatAreNotFiniteAreUnreadable() {
        var gesture = Gesture()
        gesture.scaleX = .infinity
        let edit = EncodedEdit(GestureElement(element: "a", gesture: gesture))
        #expect(throws: Refusal.self) { try edit.decode(GestureElement.self) }
    }

    @Test func kindsWithTheSameFieldsAreDifferentBodies() {
        let item = SentItem(id: "x", json: Array(#"{"type":"note"}"#.utf8))
        #expect(EncodedEdit.create(item).bodyHash != EncodedEdit.create([item]).bodyHash)
    }
}
