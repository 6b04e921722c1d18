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

    /// An update as members of the full contract get it.
    static func update(_ update: Update) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.beginArray()
        writer.value(update.event.name)
        Self.data(of: update, into: &writer)
        writer.endArray()
        return writer.bytes
    }

    /// An update as a 1.0 app gets it: one event for each element, none for what 1.0 does not know.
    static func legacyUpdates(_ update: Update) -> [[UInt8]] {
        switch update.event.legacy {
        case .same: [Self.update(update)]
        case .each(let event):
            update.elements.indices.map { Self.legacyUpdate(event, ofElementAt: $0, in: update) }
        case .parts:
            update.elements.indices.map { index in
                let element = update.elements[index]
                let event: UpdateEvent = element.json.isEmpty ? .deleted : element.isNew ? .created : .transformed
                return Self.legacyUpdate(event, ofElementAt: index, in: update)
            }
        case .none: []
        }
    }

    private static func legacyUpdate(
        _ event: UpdateEvent, ofElementAt index: Int, in update: Update
    ) -> [UInt8] {
        var single = update
        single.event = event
        single.elements = [update.elements[index]]
        return Self.event(event.name, room: nil) { writer in
            if event.shape == .flatElement { writer.rawMembers(single.elements[0].json.dropFirst().dropLast()) }
            writer.member("roomId", update.room.text)
            if event.shape == .deletion {
                writer.member("elementId", single.elements[0].id.text)
            } else {
                Self.elements(of: single, into: &writer)
            }
            Self.tail(of: single, into: &writer)
            if event == .transformed {
                writer.member("part", UInt64(index + 1))
                writer.member("parts", UInt64(update.elements.count))
            }
        }
    }

    /// The data of an update's event: the object after the event's name.
    static func data(of update: Update, into writer: inout JSONWriter) {
        writer.beginObject()
        if update.event.shape == .flatElement, let element = update.elements.first {
            writer.rawMembers(element.json.dropFirst().dropLast())
        }
        writer.key("roomId")
        writer.value(update.room.text)
        Self.elements(of: update, into: &writer)
        Self.tail(of: update, into: &writer)
        writer.endObject()
    }

    private static func elements(of update: Update, into writer: inout JSONWriter) {
        switch update.event.shape {
        case .element:
            if let element = update.elements.first {
                writer.key("element")
                writer.raw(element.json)
            }
        case .flatElement:
            break
        case .elements, .geometries:
            writer.key("elements")
            writer.beginArray()
            for element in update.elements { writer.raw(update.event.shape.appText(of: element)) }
            writer.endArray()
        case .deletion:
            if let element = update.elements.first {
                writer.key("elementId")
                writer.value(element.id.text)
            }
            writer.key("elementIds")
            writer.beginArray()
            for element in update.elements { writer.value(element.id.text) }
            writer.endArray()
        case .changes:
            Self.changes(of: update.elements, into: &writer)
        }
    }

    private static func changes(of elements: [UpdatedElement], into writer: inout JSONWriter) {
        let living = elements.filter { !$0.json.isEmpty }
        for (name, isNew) in [("created", true), ("changed", false)] {
            writer.key(string: name)
            writer.beginArray()
            for element in living where element.isNew == isNew { writer.raw(element.json) }
            writer.endArray()
        }
        writer.member("deletedIds", elements.filter(\.json.isEmpty).map(\.id.text))
    }

    private static func tail(of update: Update, into writer: inout JSONWriter) {
        writer.key("seq")
        writer.value(update.seq)
        writer.key("userId")
        writer.value(update.user.text)
        writer.key("sid")
        writer.value(update.sid.text)
        if update.number > 0 {
            writer.key("n")
            writer.value(update.number)
        }
        if [.element, .geometries].contains(update.event.shape), let gesture = update.elements.first?.gesture,
            gesture > 0
        {
            writer.member("gesture", gesture)
        }
        if let cause = update.cause.name { writer.member("cause", cause) }
    }

    /// A preview.
    static func preview(_ preview: Preview) -> [UInt8] {
        if let selection = preview.selection { return Self.selection(selection, of: preview) }
        if preview.isAttention { return Self.cursor(preview) }
        var writer = JSONWriter(reserving: 320)
        writer.beginArray()
        writer.value("element:transforming")
        writer.beginObject()
        writer.member("roomId", preview.room.text)
        writer.member("elementId", preview.element.text)
        Self.mover(of: preview, into: &writer)
        Self.values(of: preview, into: &writer)
        writer.member("gesture", preview.gesture)
        writer.member("after", preview.after)
        Self.times(of: preview, into: &writer)
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    /// The previews of a group, which have one mover and one gesture. Queues that were slow may have folded some elements
    /// more often than others: the message counts as many of the app's previews as any of its elements.
    static func previews(_ group: ArraySlice<Preview>) -> [UInt8] {
        guard let first = group.first, let mostFolded = group.max(by: { $0.folded < $1.folded }) else { return [] }
        var writer = JSONWriter(reserving: 256 + 192 * group.count)
        writer.beginArray()
        writer.value("elements:transforming")
        writer.beginObject()
        writer.member("roomId", first.room.text)
        writer.key("elements")
        writer.beginArray()
        for preview in group {
            writer.beginObject()
            writer.member("elementId", preview.element.text)
            Self.values(of: preview, into: &writer)
            writer.member("after", preview.after)
            writer.endObject()
        }
        writer.endArray()
        Self.mover(of: first, into: &writer)
        writer.member("gesture", first.gesture)
        Self.times(of: mostFolded, into: &writer)
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    /// A cursor that moved.
    private static func cursor(_ preview: Preview) -> [UInt8] {
        Self.event("cursor:moved", room: preview.room) { writer in
            Self.mover(of: preview, into: &writer)
            Self.coordinate("x", preview.cursor?.x, into: &writer)
            Self.coordinate("y", preview.cursor?.y, into: &writer)
            writer.member("dt", UInt64(preview.sinceLast))
        }
    }

    /// A selection that changed.
    private static func selection(_ selection: Selection, of preview: Preview) -> [UInt8] {
        Self.event("selection:changed", room: preview.room) { writer in
            Self.mover(of: preview, into: &writer)
            Self.ids(selection.elements, into: &writer)
        }
    }

    private static func ids(_ elements: [Identifier], into writer: inout JSONWriter) {
        writer.key("elementIds")
        writer.beginArray()
        for element in elements { writer.value(element.text) }
        writer.endArray()
    }

    private static func coordinate(_ name: StaticString, _ value: Double?, into writer: inout JSONWriter) {
        writer.key(name)
        if let value { writer.value(value) } else { writer.null() }
    }

    /// What the connections of a member show.
    static func attention(_ connections: [Attention], into writer: inout JSONWriter) {
        writer.key("connections")
        writer.beginArray()
        for connection in connections where !connection.sid.isEmpty {
            writer.beginObject()
            writer.member("sid", connection.sid.text)
            if let cursor = connection.cursor {
                writer.object("cursor") { writer in
                    writer.member("x", cursor.x)
                    writer.member("y", cursor.y)
                }
            }
            if !connection.selection.isEmpty {
                writer.key("selection")
                writer.beginArray()
                for element in connection.selection { writer.value(element.text) }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func mover(of preview: Preview, into writer: inout JSONWriter) {
        writer.member("userId", preview.user.text)
        writer.member("sid", preview.sid.text)
    }

    private static func values(of preview: Preview, into writer: inout JSONWriter) {
        writer.key("transform")
        writer.beginObject()
        Self.field("rotation", preview.fields.rotation, into: &writer)
        Self.field("scaleX", preview.fields.scaleX, into: &writer)
        Self.field("scaleY", preview.fields.scaleY, into: &writer)
        writer.endObject()
        Self.field("positionX", preview.fields.positionX, into: &writer)
        Self.field("positionY", preview.fields.positionY, into: &writer)
    }

    private static func times(of preview: Preview, into writer: inout JSONWriter) {
        writer.member("n", UInt64(preview.folded))
        writer.member("dt", UInt64(preview.sinceLast))
    }

    private static func field(_ name: StaticString, _ value: Double?, into writer: inout JSONWriter) {
        guard let value else { return }
        writer.key(name)
        writer.value(value)
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

    /// The end of a gesture for a 1.0 app: the element as it stands, with its old number.
    static func legacyGestureEnded(_ ended: GestureEnded) -> [UInt8] {
        Self.event("element:transformed", room: ended.gesture.room) { writer in
            writer.key("element")
            writer.raw(ended.json)
            writer.key("seq")
            writer.value(ended.seq)
            writer.key("userId")
            writer.value(ended.gesture.user.text)
            writer.key("sid")
            writer.value(ended.gesture.sid.text)
        }
    }

    /// Somebody came or left.
    static func presence(_ presence: Presence) -> [UInt8] {
        Self.event(presence.hasJoined ? "member:joined" : "member:left", room: presence.room) { writer in
            Self.member(presence.member, into: &writer)
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
