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
        writer.object { writer in
            writer.member("roomId", ifPresent: room?.text)
            body(&writer)
        }
        writer.endArray()
        return writer.bytes
    }

    /// A refusal as the event `transform:error`, for an app that asked for no acknowledgement.
    static func transformError(
        _ refusal: Refusal, event: String, room: Identifier?, element: Identifier?, number: UInt64?
    ) -> [UInt8] {
        Self.event("transform:error", room: nil) { writer in
            writer.member("event", event)
            refusal.encodeMembers(into: &writer)
            writer.member("roomId", ifPresent: room?.text)
            writer.member("elementId", ifPresent: element?.text)
            writer.member("n", ifPresent: number)
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
                writer.member("x", cursor?.x)
                writer.member("y", cursor?.y)
                writer.member("dt", UInt64(awareness.sinceLast))
            case .selection(let elements):
                writer.member("elementIds", elements.map(\.text))
            case .state(let json): writer.member("state", raw: json)
            case .viewport(let rect): Self.rect(rect, into: &writer)
            }
        }
    }

    static func signal(_ signal: RoomSignal) -> [UInt8] {
        Self.event("room:signaled", room: signal.room) { writer in
            writer.member("userId", signal.user.text)
            writer.member("sid", signal.sid.text)
            writer.member("name", signal.name)
            writer.member("data", raw: signal.data)
        }
    }

    /// The members of a part of the canvas; null where there is none.
    static func rect(_ rect: Rect?, into writer: inout JSONWriter) {
        writer.member("x", rect?.origin.x)
        writer.member("y", rect?.origin.y)
        writer.member("width", rect?.size.width)
        writer.member("height", rect?.size.height)
    }

    static func gestureEnded(_ ended: GestureEnded) -> [UInt8] {
        Self.event("gesture:ended", room: ended.gesture.room) { writer in
            writer.member("elementId", ended.gesture.element.text)
            writer.member("userId", ended.gesture.user.text)
            writer.member("sid", ended.gesture.sid.text)
            writer.member("gesture", ended.gesture.gesture)
            writer.member("element", raw: ended.json)
            writer.member("seq", ended.seq)
        }
    }

    static func member(_ news: MemberNews) -> [UInt8] {
        Self.event(news.change.rawValue, room: news.room) { writer in
            Self.member(news.member, into: &writer)
        }
    }

    static func throttle(_ interval: Nanoseconds, room: Identifier) -> [UInt8] {
        Self.event("room:throttle", room: room) { writer in
            writer.member("intervalMs", interval.milliseconds)
        }
    }

    /// A member missed updates of the room, and joins again.
    static func resync(room: Identifier, from: UInt64, to: UInt64) -> [UInt8] {
        Self.event("room:resync", room: room) { writer in
            writer.member("from", from)
            writer.member("to", to)
        }
    }

    /// The app's token expires in `seconds`; 0: it has expired.
    static func sessionExpires(in seconds: Int64) -> [UInt8] {
        Self.event("auth:error", room: nil) { writer in
            writer.member("code", RefusalCode.sessionExpired.name)
            writer.member("message", seconds == 0 ? "The token has expired." : "The token expires soon.")
            writer.member("expiresInMs", seconds * 1000)
        }
    }

    static var tokenNotValid: [UInt8] {
        Self.event("auth:error", room: nil) { writer in
            writer.member("code", Refusal.tokenNotValid.code.name)
            writer.member("message", Refusal.tokenNotValid.message)
        }
    }

    /// One part of a room's elements, as an event.
    /// - Parameter elements: their JSON texts, with commas between them.
    static func elements(_ elements: ArraySlice<UInt8>, part: Int, of parts: Int, room: Identifier) -> [UInt8] {
        Self.event("room:elements", room: room) { writer in
            writer.member("part", part)
            writer.member("parts", parts)
            writer.key("elements")
            writer.beginArray()
            writer.raw(elements)
            writer.endArray()
        }
    }

    static func member(_ member: Member, into writer: inout JSONWriter) {
        writer.member("userId", member.user.text)
        writer.member("name", member.name)
        writer.member("color", member.color)
    }
}
