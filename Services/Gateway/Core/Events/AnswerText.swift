import Auth
import Canvas
import JSONBytes
import Timing
package import Wire

/// Writes answers, each one JSON object: acknowledgements, and bodies over HTTP.
enum AnswerText {
    /// A refusal as an acknowledgement: `{"ok":false,"error":{…}}`.
    static func refused(_ refusal: Refusal) -> [UInt8] {
        var writer = JSONWriter(reserving: 160)
        refusal.encodeAcknowledgement(into: &writer)
        return writer.bytes
    }

    /// The acknowledgement of a new token.
    /// - Parameter expiresAt: seconds since 1970.
    static func refreshed(expiresAt: Int64?) -> [UInt8] {
        var writer = JSONWriter(reserving: 64)
        writer.beginObject()
        writer.key("ok")
        writer.value(true)
        if let expiresAt {
            writer.key("expiresAt")
            writer.value(expiresAt)
        }
        writer.endObject()
        return writer.bytes
    }

    /// The answer to a ping.
    /// - Parameter seconds: the time since 1970.
    static func pong(at seconds: Double) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("ok", true)
            writer.member("time", seconds * 1000)
        }
    }

    /// A room as it is read over HTTP.
    static func room(_ room: Identifier, at position: Position, elements: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: elements.count + 128)
        writer.beginObject()
        writer.key("roomId")
        writer.value(room.text)
        writer.key("epoch")
        writer.value(position.epoch.text)
        writer.key("seq")
        writer.value(position.seq)
        writer.key("elements")
        writer.raw(elements)
        writer.endObject()
        return writer.bytes
    }

    /// A page of a room's history.
    static func history(_ page: HistoryPage) -> [UInt8] {
        var writer = JSONWriter(reserving: 64 + page.entries.count * 1024)
        writer.beginObject()
        writer.key("entries")
        writer.beginArray()
        for entry in page.entries { Self.entry(entry, into: &writer) }
        writer.endArray()
        writer.member("next", page.next)
        writer.member("oldest", page.oldest)
        writer.endObject()
        return writer.bytes
    }

    private static func entry(_ entry: HistoryEntry, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seq", entry.seq)
        writer.member("at", entry.at)
        writer.member("event", entry.event)
        writer.member("userId", entry.user.text)
        writer.member("sid", entry.sid.text)
        if entry.number > 0 { writer.member("n", entry.number) }
        if let cause = entry.cause.name { writer.member("cause", cause) }
        writer.key("changes")
        writer.beginArray()
        for change in entry.changes {
            writer.beginObject()
            writer.member("elementId", change.element.text)
            Self.element(change.before, called: "before", into: &writer)
            Self.element(change.after, called: "after", into: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    private static func element(_ json: [UInt8], called name: StaticString, into writer: inout JSONWriter) {
        writer.key(name)
        if json.isEmpty { writer.null() } else { writer.raw(json) }
    }

    /// The acknowledgement of a join as the array of its arguments: a large room is written once.
    /// - Parameter parts: in how many parts the elements follow; 0: they are in it.
    static func joinedArguments(
        _ joined: JoinReply.Joined, room: Identifier, _ welcome: Welcome, limits: GatewayLimits, parts: Int
    ) -> [UInt8] {
        var elementBytes = 0
        if parts == 0, case .elements(let json) = joined.content { elementBytes = json.count }
        var writer = JSONWriter(reserving: elementBytes + joined.members.count * 256 + 4096)
        writer.beginArray()
        Self.joined(joined, room: room, welcome, limits: limits, parts: parts, into: &writer)
        writer.endArray()
        return writer.bytes
    }

    /// The acknowledgement of a join.
    static func joined(
        _ joined: JoinReply.Joined, room: Identifier, _ welcome: Welcome, limits: GatewayLimits
    ) -> [UInt8] {
        let awarenessBytes = joined.awareness.joined().reduce(0) { $0 + $1.selection.count + $1.state.count }
        var writer = JSONWriter(reserving: awarenessBytes + 4096)
        Self.joined(joined, room: room, welcome, limits: limits, parts: 0, into: &writer)
        return writer.bytes
    }

    private static func joined(
        _ joined: JoinReply.Joined, room: Identifier, _ welcome: Welcome, limits: GatewayLimits, parts: Int,
        into writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.key("ok")
        writer.value(true)
        writer.key("roomId")
        writer.value(room.text)
        writer.key("epoch")
        writer.value(joined.position.epoch.text)
        writer.key("seq")
        writer.value(joined.position.seq)
        Self.content(parts > 0 ? .elements(Array("[]".utf8)) : joined.content, into: &writer)
        if parts > 0 {
            writer.key("parts")
            writer.value(parts)
        }
        writer.key("members")
        writer.beginArray()
        for (index, member) in joined.members.enumerated() {
            writer.beginObject()
            EventText.member(member, into: &writer)
            Self.awareness(index < joined.awareness.count ? joined.awareness[index] : [], into: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.object("self") { writer in
            EventText.member(welcome.identity.member, into: &writer)
            writer.member("right", ifPresent: welcome.identity.right(in: room)?.rawValue)
        }
        writer.key("session")
        writer.value(joined.session)
        writer.key("sid")
        writer.value(joined.sid.text)
        writer.key("n")
        writer.value(joined.number)
        writer.key("throttleMs")
        writer.value(welcome.throttle.milliseconds)
        writer.key("limits")
        limits.encode(into: &writer)
        if !joined.rules.isEmpty {
            writer.key("rules")
            writer.raw(joined.rules)
        }
        writer.member("time", welcome.time)
        writer.endObject()
    }

    private static func content(_ content: RoomContent, into writer: inout JSONWriter) {
        writer.key("recovered")
        switch content {
        case .elements(let json):
            writer.value(false)
            writer.key("elements")
            writer.raw(json)
        case .updates(let updates):
            writer.value(true)
            writer.key("updates")
            writer.beginArray()
            for update in updates {
                writer.beginObject()
                writer.key("event")
                writer.value(update.event.name)
                writer.key("seq")
                writer.value(update.seq)
                writer.key("data")
                writer.raw(update.data)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    /// What the connections of a member show.
    private static func awareness(_ connections: [JoinReply.Shown], into writer: inout JSONWriter) {
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
                writer.raw(connection.selection)
            }
            if !connection.state.isEmpty {
                writer.key("state")
                writer.raw(connection.state)
            }
            if let viewport = connection.viewport {
                writer.object("viewport") { EventText.rect(viewport, into: &$0) }
            }
            writer.endObject()
        }
        writer.endArray()
    }
}

/// What the answer to a join says of the gateway and the app itself.
struct Welcome {
    /// Who the app is.
    let identity: Identity
    /// How far apart it is asked to send previews.
    let throttle: Nanoseconds
    /// The gateway's clock, ms since 1970.
    let time: Double
}

extension Refusal {
    /// It as an acknowledgement: `{"ok":false,"error":{…}}`.
    package var acknowledgementText: [UInt8] { AnswerText.refused(self) }
}
