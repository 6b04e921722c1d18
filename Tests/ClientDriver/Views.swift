import Canvas
import JSONBytes
import TouchSyncClient
import TouchSyncClientCore

/// `null`.
struct Nothing: JSONEncodable {
    func encode(into writer: inout JSONWriter) { writer.null() }
}

/// An element as the server writes it.
struct ElementView: JSONEncodable {
    let element: Element

    func encode(into writer: inout JSONWriter) { self.element.encode(into: &writer) }
}

/// Why the client is not connected.
struct FailureView: JSONEncodable {
    let failure: ConnectionFailure

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", self.failure.code.rawValue)
        writer.member("message", self.failure.message)
        writer.endObject()
    }
}

/// The part of the canvas that somebody shares, or `null`.
struct ViewportView: JSONEncodable {
    let rect: Rect?

    func encode(into writer: inout JSONWriter) {
        guard let rect = self.rect else { return writer.null() }
        writer.beginObject()
        writer.member("x", rect.origin.x)
        writer.member("y", rect.origin.y)
        writer.member("width", rect.size.width)
        writer.member("height", rect.size.height)
        writer.endObject()
    }
}

/// What a room looks like.
struct RoomView: JSONEncodable {
    let shown: ShownRoom
    let drawn: [Element]

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("state", self.shown.state.rawValue)
        writer.member("seq", self.shown.seq)
        writer.member("pending", self.shown.pending)
        writer.member("elements", self.shown.elements.map(ElementView.init))
        writer.member("drawn", self.drawn.map(ElementView.init))
        writer.member("canUndo", self.shown.canUndo)
        writer.member("canRedo", self.shown.canRedo)
        writer.objects("members", self.shown.members) { member, writer in
            writer.member("userId", member.userId)
            writer.member("name", ifPresent: member.name)
            writer.member("color", ifPresent: member.color)
            writer.objects("connections", member.connections) { Self.encode($0, into: &$1) }
        }
        if let me = self.shown.me {
            writer.object("self") { writer in
                writer.member("userId", me.userId)
                writer.member("name", ifPresent: me.name)
                writer.member("color", ifPresent: me.color)
                writer.member("right", ifPresent: me.right?.rawValue)
            }
        }
        writer.endObject()
    }

    private static func encode(_ connection: MemberConnection, into writer: inout JSONWriter) {
        writer.member("sid", connection.sid)
        if let cursor = connection.cursor {
            writer.object("cursor") { writer in
                writer.member("x", cursor.x)
                writer.member("y", cursor.y)
            }
        }
        writer.member("selection", connection.selection)
    }
}

/// What a page of the history tells of each change.
struct HistoryView: JSONEncodable {
    let page: RoomHistoryPage

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.objects("entries", self.page.entries) { entry, writer in
            writer.member("seq", entry.seq)
            writer.member("event", entry.event)
            writer.member("userId", entry.userId)
        }
        writer.member("next", self.page.next)
        writer.member("oldest", self.page.oldest)
        writer.endObject()
    }
}
