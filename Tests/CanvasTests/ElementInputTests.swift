import Canvas
import JSONBytes
import Testing

@Suite("Payloads from apps")
struct ElementInputTests {
    @Test("commit: the fields of the 1.0 contract")
    func commit() throws {
        let payload = try json(
            #"{"roomId":"r","elementId":"e","positionX":1,"positionY":2,"width":3,"height":4,"transform":{"rotation":5,"scaleX":6,"scaleY":7,"x":true},"n":1}"#
        )
        let fields = TransformFields(positionX: 1, positionY: 2, rotation: 5, scaleX: 6, scaleY: 7, width: 3, height: 4)
        #expect(try TransformFields(payload, isPreview: false) == fields)
        var preview = fields
        (preview.width, preview.height) = (nil, nil)
        #expect(try TransformFields(payload, isPreview: true) == preview)
    }

    @Test(arguments: [
        ("{}", "transform"), ("[]", "transform"), (#"{"transform":{}}"#, "transform"),
        (#"{"width":1,"height":1}"#, "transform"),
        (#"{"transform":null}"#, "transform"), (#"{"transform":[1]}"#, "transform"),
        (#"{"positionX":1,"transform":3}"#, "transform"),
        (#"{"positionX":null}"#, "positionX"), (#"{"positionX":"1"}"#, "positionX"),
        (#"{"positionY":true}"#, "positionY"),
        (#"{"positionX":1,"width":null}"#, "width"), (#"{"positionX":1,"height":{}}"#, "height"),
        (#"{"transform":{"rotation":null}}"#, "transform.rotation"),
        (#"{"transform":{"rotation":"90"}}"#, "transform.rotation"),
        (#"{"transform":{"scaleX":[]}}"#, "transform.scaleX"),
        (#"{"transform":{"scaleY":false}}"#, "transform.scaleY"),
    ])
    func invalidNamesTheField(text: String, field: String) throws {
        let payload = try json(text)
        #expect(refusedField { try TransformFields(payload, isPreview: false) } == field)
    }

    @Test("preview: size hints are unknown fields")
    func previewHints() throws {
        #expect(
            try TransformFields(json(#"{"positionX":1,"width":"x"}"#), isPreview: true)
                == TransformFields(positionX: 1))
    }

    @Test(
        "element id: 1–128 bytes of any Unicode but control characters",
        arguments: [
            ("a", true), ("", false), ("e-1 ' OR 1=1;--", true), ("ü😀", true), ("a\u{1F}", false), ("\u{7F}", false),
            ("\u{80}", false), ("a\u{9F}b", false), ("\u{A0}", true),
            (String(repeating: "x", count: 128), true), (String(repeating: "x", count: 129), false),
            (String(repeating: "é", count: 65), false), ("Â", true),
        ])
    func elementID(id: String, isValid: Bool) throws {
        let value = try json(text { $0.value(id) })
        #expect(refusedField { try ElementInput.elementID(value, field: "elementId") } == (isValid ? nil : "elementId"))
        if isValid { #expect(try Array(ElementInput.elementID(value, field: "x").utf8) == Array(id.utf8)) }
    }

    @Test("element id: missing or of another type")
    func elementIDType() throws {
        #expect(refusedField { try ElementInput.elementID(nil, field: "elementId") } == "elementId")
        for text in ["1", "null", "[]", "true", "{}"] {
            let value = try json(text)
            #expect(refusedField { try ElementInput.elementID(value, field: "elementId") } == "elementId")
        }
    }

    @Test("new element: every known field")
    func newElement() throws {
        let new = try NewElement(
            json(
                #"{"id":"e","type":"text","positionX":0.5,"positionY":0.25,"width":10,"height":20,"rotation":1,"scaleX":2,"scaleY":3,"originalWidth":4,"originalHeight":5,"anchorX":0,"anchorY":1,"locked":true,"snapDegrees":45,"bounds":{"x":0,"y":0,"width":1,"height":1},"fontSize":14,"zIndex":3,"space":"normalized","parentId":"p","content":{"a":[1, 2]},"createdBy":"mallory","rev":99,"seq":1,"userId":"x"}"#
            ),
            path: "element")
        #expect((new.id, new.type, new.parentId, new.space) == ("e", "text", "p", .normalized))
        #expect(
            new.transform
                == TransformFields(
                    positionX: 0.5, positionY: 0.25, rotation: 1, scaleX: 2, scaleY: 3, width: 10, height: 20))
        #expect((new.originalWidth, new.originalHeight, new.anchorX, new.anchorY) == (4, 5, 0, 1))
        #expect((new.locked, new.snapDegrees, new.fontSize, new.zIndex) == (true, 45, 14, 3))
        #expect(new.extra == [ExtraField(name: "content", json: Array(#"{"a":[1, 2]}"#.utf8))])
        let (element, _) = rules.create(new, id: "e", by: "ann")
        #expect((element.createdBy, element.rev) == ("ann", 1))
    }

    @Test(
        "new element: invalid names the field",
        arguments: [
            ("{}", "type"), (#"{"type":null}"#, "type"), (#"{"type":1}"#, "type"),
            (#"{"type":"123456789012345678901234567890123"}"#, "type"),
            (#"{"type":"n","id":""}"#, "id"), (#"{"type":"n","id":null}"#, "id"), (#"{"type":"n","width":0}"#, "width"),
            (#"{"type":"n","width":-1}"#, "width"),
            (#"{"type":"n","height":-0.0}"#, "height"), (#"{"type":"n","originalWidth":0}"#, "originalWidth"),
            (#"{"type":"n","originalHeight":-3}"#, "originalHeight"),
            (#"{"type":"n","originalHeight":null}"#, "originalHeight"),
            (#"{"type":"n","snapDegrees":0}"#, "snapDegrees"), (#"{"type":"n","snapDegrees":-45}"#, "snapDegrees"),
            (#"{"type":"n","locked":1}"#, "locked"), (#"{"type":"n","locked":null}"#, "locked"),
            (#"{"type":"n","bounds":null}"#, "bounds"),
            (#"{"type":"n","bounds":{"x":1,"y":1,"width":1}}"#, "bounds.height"),
            (#"{"type":"n","bounds":{"x":1,"y":1,"width":-1,"height":1}}"#, "bounds.width"),
            (#"{"type":"n","space":"moon"}"#, "space"), (#"{"type":"n","space":null}"#, "space"),
            (#"{"type":"n","space":"normalized"}"#, "parentId"),
            (#"{"type":"n","parentId":null}"#, "parentId"), (#"{"type":"n","rotation":"x"}"#, "rotation"),
            (#"{"type":"n","zIndex":null}"#, "zIndex"),
            (#"{"type":"n","anchorX":null}"#, "anchorX"), (#"{"type":"n","fontSize":"12"}"#, "fontSize"),
            (#"{"type":"n","positionX":[]}"#, "positionX"),
        ])
    func invalidElement(text: String, field: String) throws {
        let element = try json(text)
        #expect(refusedField { try NewElement(element, path: "elements[3]") } == "elements[3]." + field)
        #expect(refusedField { try NewElement(element, path: "") } == field)
    }

    @Test("new element: not an object")
    func notAnObject() throws {
        for text in ["1", "null", "[]", "\"x\""] {
            let value = try json(text)
            #expect(refusedField { try NewElement(value, path: "element") } == "element")
        }
    }

    @Test("extra fields: 8 KiB in total, names and values as sent")
    func extraLimit() throws {
        func refusal(_ bytes: Int) throws -> FieldError? {
            // {"type":"n","a":"…"}: one byte of name, two quotes.
            let element = try json("{\"type\":\"n\",\"a\":\"\(String(repeating: "x", count: bytes - 3))\"}")
            do throws(FieldError) { _ = try NewElement(element, path: "element") } catch { return error }
            return nil
        }
        #expect(try refusal(8192) == nil)
        let error = try #require(try refusal(8193))
        #expect((error.field, error.tooLarge) == ("element", true))
    }

    @Test(
        "update: what a transform changes or the server decides is invalid in set",
        arguments: [
            "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "anchorX",
            "anchorY", "parentId", "space", "transform", "createdBy", "updatedBy", "rev",
        ])
    func setRefuses(name: String) throws {
        let set = try json("{\"content\":\"x\",\"\(name)\":1}")
        #expect(refusedField { try ElementChanges(set) } == "set." + name)
    }

    @Test(
        "update: wrong types are invalid in known fields, null in those that every element has",
        arguments: [
            (#"{"fontSize":null,"zIndex":null}"#, nil), (#"{"locked":null}"#, "set.locked"),
            (#"{"originalWidth":null}"#, "set.originalWidth"), (#"{"originalHeight":0}"#, "set.originalHeight"),
            (#"{"positionX":null}"#, "set.positionX"), (#"{"originalWidth":3}"#, nil),
            (#"{"locked":"yes"}"#, "set.locked"), (#"{"snapDegrees":0}"#, "set.snapDegrees"),
            (#"{"bounds":{"x":0}}"#, "set.bounds.y"), (#"{"zIndex":"1"}"#, "set.zIndex"), ("[]", "set"),
            ("null", "set"), (#"{"content":null}"#, nil), ("{}", nil),
        ] as [(String, String?)])
    func setTypes(text: String, field: String?) throws {
        let set = try json(text)
        #expect(refusedField { try ElementChanges(set) } == field)
    }

    @Test("gesture: deltas, scale as a number or per axis")
    func gesture() throws {
        let gesture = try GestureFields(
            json(#"{"translation":{"x":1,"y":2},"scale":3,"rotation":4,"anchor":{"x":0,"y":1}}"#)
        ).gesture
        #expect((gesture.translation, gesture.scaleX, gesture.scaleY) == (Point(x: 1, y: 2), 3, 3))
        #expect((gesture.rotation, gesture.anchor) == (4, Point(x: 0, y: 1)))
        #expect(try GestureFields(json(#"{"scale":{"x":2,"y":-1}}"#)).scale?.y == -1)
        for (text, field) in [
            ("{}", "translation"), (#"{"translation":{"x":1}}"#, "translation.y"), (#"{"scale":"2"}"#, "scale"),
            (#"{"scale":null}"#, "scale"), (#"{"rotation":null}"#, "rotation"),
            (#"{"anchor":[0,0]}"#, "anchor"), (#"{"scale":{"x":1}}"#, "scale.y"),
        ] {
            let payload = try json(text)
            #expect(refusedField { try GestureFields(payload) } == field)
        }
        let none = try json("{}")
        #expect(refusedField { try GestureFields.pivot(none) } == "pivot")
    }
}
