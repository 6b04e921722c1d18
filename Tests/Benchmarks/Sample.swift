import Canvas
import JSONBytes
import Wire

/// What an app on a phone sends, and what is around it: ids as such apps make them, numbers with all their digits.
enum Sample {
    static let room: Identifier = "design-review"
    static let element: Identifier = "3f2b8c1e-7d54-4c0a-9b1d-2f6a0c9e8d71"
    static let user: Identifier = "user-1842"
    /// As long as a fan-out makes them.
    static let sid: Identifier = "k3f9x2m1q8w7z4a"
    static let gateway: Identifier = "gateway-1"

    static let fields = TransformFields(
        positionX: 812, positionY: 431, rotation: 182.35714285714286, scaleX: 1.2345678901234567,
        scaleY: 1.2345678901234567)

    static let previewEvent = Array(
        (#"["element:transforming",{"roomId":"\#(room)","elementId":"\#(element)","transform":{"rotation":"#
            + #"182.35714285714286,"scaleX":1.2345678901234567,"scaleY":1.2345678901234567},"positionX":812,"#
            + #""positionY":431}]"#).utf8)

    static let commitEvent = Array(
        (#"["element:transform",{"roomId":"\#(room)","elementId":"\#(element)","positionX":812,"positionY":431,"#
            + #""width":246.91357802469135,"height":197.53086241975308,"transform":{"rotation":182.35714285714286,"#
            + #""scaleX":1.2345678901234567,"scaleY":1.2345678901234567}}]"#).utf8)

    static let preview = Preview(
        room: room, element: element, connection: 0x2_0000_0007, user: user, sid: sid, gesture: 3, after: 41,
        fields: fields)

    static let commit = Commit(
        room: room, session: SessionKey.gateway(sid: sid, sessionEpoch: 1), sessionEpoch: 1, number: 7,
        user: user, connection: 0x2_0000_0007, gateway: gateway,
        gestures: [EndedGesture(element: element, gesture: 3)],
        edit: EncodedEdit(TransformElement(element: element, fields: fields)))

    /// A note that carries a text of its app.
    static func note(_ id: Identifier) -> Element {
        var note = Element(id: id.text, type: "note", createdBy: user.text)
        note.originalWidth = 200
        note.originalHeight = 160
        note.extra = [ExtraField(name: "content", json: Array(#""Call Ada about the second draft""#.utf8))]
        return note
    }

    static func json(_ element: Element) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        element.encode(into: &writer)
        return writer.bytes
    }

    /// The answer to a commit.
    static let acknowledgement =
        Array(#"{"ok":true,"seq":42,"element":"#.utf8) + json(note(element)) + Array(#","adjusted":[]}"#.utf8)

    /// An update of the room; the chain is not known, which a cursor does not mind.
    static func update(_ seq: UInt64) -> Update {
        Update(
            shard: UInt8(Shard.of(room: room)), gseq: seq, room: room, seq: seq, event: .transformed, user: user,
            sid: sid, number: seq, elements: [UpdatedElement(id: element, json: noteText, gesture: 3)])
    }

    /// The updates of all turns of an operation.
    static let updates = (UInt64(42)...1041).map(update)

    static let noteText = json(note(element))

    /// Another name of the same length for each number below 1000.
    static func varied(_ name: Identifier, _ number: Int) -> Identifier {
        Identifier(String(name.text.dropLast(3)) + String(1000 + number).suffix(3))
    }
}
