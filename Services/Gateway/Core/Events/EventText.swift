import Canvas
import JSONBytes
import Timing
import Wire

/// Writes the events that apps receive, as JSON arrays `["event", {…}]`.
enum EventText {
    /// An event whose object is written by `body`, after `roomId`.
    static func event(_ name: String, room: Identifier?, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.beginArray()
        writer.value(name)
        writer.beginObject()
        if let room {
            writer.key("roomId")
            writer.value(room.text)
        }
        body(&writer)
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    /// A refusal as the event `transform:error`, for an app that asked for no acknowledgement.
    static func transformError(
        _ refusal: Refusal, event: String, room: Identifier?, element: Identifier?, number: UInt64?
    ) -> [UInt8] {
        Self.event("transform:error", room: nil) { writer in
            writer.key("event")
            writer.value(event)
            refusal.encodeMembers(into: &writer)
            if let room {
                writer.key("roomId")
                writer.value(room.text)
            }
            if let element {
                writer.key("elementId")
                writer.value(element.text)
            }
            if let number {
                writer.key("n")
                writer.value(number)
            }
        }
    }

    /// What a connection shows of its person; null, or no elements, where it shows that no more.
    static func awareness(_ awareness: Awareness) -> [UInt8] {
        let name =
            switch awareness.value.part {
            case .cursor: "cursor:moved"
            case .selection: "selection:changed"
            case .state: "presence:changed"
            case .viewport: "viewport:changed"
            }
        return Self.event(name, room: awareness.room) { writer in
            writer.member("userId", awareness.user.text)
            writer.member("sid", awareness.sid.text)
            switch awareness.value {
            case .cursor(let cursor):
                Self.number("x", cursor?.x, into: &writer)
                Self.number("y", cursor?.y, into: &writer)
                writer.member("dt", UInt64(awareness.sinceLast))
            case .selection(let elements):
                writer.key("elementIds")
                writer.beginArray()
                for element in elements { writer.value(element.text) }
                writer.endArray()
            case .state(let json):
                writer.key("state")
                if json.isEmpty { writer.null() } else { writer.raw(json) }
            case .viewport(let rect): Self.rect(rect, into: &writer)
            }
        }
    }

    /// What a connection tells the others.
    static func signal(_ signal: RoomSignal) -> [UInt8] {
        Self.event("room:signaled", room: signal.room) { writer in
            writer.member("userId", signal.user.text)
            writer.member("sid", signal.sid.text)
            writer.member("name", signal.name)
            writer.key("data")
            if signal.data.isEmpty { writer.null() } else { writer.raw(signal.data) }
        }
    }

    /// The members of a part of the canvas; null where there is none.
    static func rect(_ rect: Rect?, into writer: inout JSONWriter) {
        Self.number("x", rect?.origin.x, into: &writer)
        Self.number("y", rect?.origin.y, into: &writer)
        Self.number("width", rect?.size.width, into: &writer)
        Self.number("height", rect?.size.height, into: &writer)
    }

    private static func number(_ name: StaticString, _ value: Double?, into writer: inout JSONWriter) {
        writer.key(name)
        if let value { writer.value(value) } else { writer.null() }
    }

    /// The end of a gesture without a commit.
    static func gestureEnded(_ ended: GestureEnded) -> [UInt8] {
        Self.event("gesture:ended", room: ended.gesture.room) { writer in
            writer.key("elementId")
            writer.value(ended.gesture.element.text)
            writer.key("userId")
            writer.value(ended.gesture.user.text)
            writer.key("sid")
            writer.value(ended.gesture.sid.text)
            writer.key("gesture")
            writer.value(ended.gesture.gesture)
            writer.key("element")
            writer.raw(ended.json)
            writer.key("seq")
            writer.value(ended.seq)
        }
    }

    /// Somebody came, is shown otherwise or left.
    static func member(_ news: MemberNews) -> [UInt8] {
        Self.event(news.change.rawValue, room: news.room) { writer in
            Self.member(news.member, into: &writer)
        }
    }

    /// The pace of a room's previews has changed.
    static func throttle(_ interval: Nanoseconds, room: Identifier) -> [UInt8] {
        Self.event("room:throttle", room: room) { writer in
            writer.key("intervalMs")
            writer.value(interval.milliseconds)
        }
    }

    /// A member missed updates of the room, and joins again.
    static func resync(room: Identifier, from: UInt64, to: UInt64) -> [UInt8] {
        Self.event("room:resync", room: room) { writer in
            writer.key("from")
            writer.value(from)
            writer.key("to")
            writer.value(to)
        }
    }

    /// The app's token expires in `seconds`; 0: it has expired.
    static func sessionExpires(in seconds: Int64) -> [UInt8] {
        Self.event("auth:error", room: nil) { writer in
            writer.key("code")
            writer.value(RefusalCode.sessionExpired.name)
            writer.key("message")
            writer.value(seconds == 0 ? "The token has expired." : "The token expires soon.")
            writer.key("expiresInMs")
            writer.value(seconds * 1000)
        }
    }

    /// The app's token is not valid any more.
    static var tokenNotValid: [UInt8] {
        Self.event("auth:error", room: nil) { writer in
            writer.key("code")
            writer.value(Refusal.tokenNotValid.code.name)
            writer.key("message")
            writer.value(Refusal.tokenNotValid.message)
        }
    }

    /// One part of a room's elements, as an event.
    /// - Parameter elements: their JSON texts, with commas between them.
    static func elements(_ elements: ArraySlice<UInt8>, part: Int, of parts: Int, room: Identifier) -> [UInt8] {
        Self.event("room:elements", room: room) { writer in
            writer.key("part")
            writer.value(part)
            writer.key("parts")
            writer.value(parts)
            writer.key("elements")
            writer.beginArray()
            writer.raw(elements)
            writer.endArray()
        }
    }

    /// The fields of a member.
    static func member(_ member: Member, into writer: inout JSONWriter) {
        writer.key("userId")
        writer.value(member.user.text)
        writer.key("name")
        writer.value(member.name)
        writer.key("color")
        writer.value(member.color)
    }
}
