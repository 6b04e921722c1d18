import Auth
import Canvas
import JSONBytes
import Timing
package import Wire

/// Writes answers, each one JSON object: acknowledgements, and bodies over HTTP.
package enum AnswerText {
    /// The acknowledgement of a new token.
    /// - Parameter expiresAt: seconds since 1970.
    static func refreshed(expiresAt: Int64?) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("ok", true)
            writer.member("expiresAt", ifPresent: expiresAt)
        }
    }

    /// The answer to a ping.
    /// - Parameter seconds: the time since 1970.
    static func pong(at seconds: Double) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("ok", true)
            writer.member("time", seconds * 1000)
        }
    }

    static func room(_ room: Identifier, at position: Position, elements: [UInt8]) -> [UInt8] {
        JSONWriter.text(reserving: elements.count + 128) { writer in
            writer.member("roomId", room.text)
            writer.member("epoch", position.epoch.text)
            writer.member("seq", position.seq)
            writer.member("elements", raw: elements)
        }
    }

    package static func history(_ page: HistoryPage) -> [UInt8] {
        JSONWriter.text(reserving: 64 + page.entries.count * 1024) { writer in
            writer.objects("entries", page.entries, Self.entry)
            writer.member("next", page.next)
            writer.member("oldest", page.oldest)
        }
    }

    private static func entry(_ entry: HistoryEntry, into writer: inout JSONWriter) {
        writer.member("seq", entry.seq)
        writer.member("at", entry.at)
        writer.member("event", entry.event)
        writer.member("userId", entry.user.text)
        writer.member("sid", entry.sid.text)
        writer.member("n", ifPresent: entry.number > 0 ? entry.number : nil)
        writer.member("cause", ifPresent: entry.cause.name)
        writer.objects("changes", entry.changes) { change, writer in
            writer.member("elementId", change.element.text)
            writer.member("before", raw: change.before)
            writer.member("after", raw: change.after)
        }
    }

    /// The acknowledgement of a join.
    /// - Parameters:
    ///   - parts: in how many parts the elements follow; 0: they are in it.
    ///   - isInArray: it is written as the only one of its arguments, so that a large room is written once.
    static func joined(
        _ joined: JoinReply.Joined, room: Identifier, _ welcome: Welcome, limits: GatewayLimits, parts: Int,
        inArray isInArray: Bool
    ) -> [UInt8] {
        var bytes = joined.awareness.joined().reduce(joined.members.count * 256) {
            $0 + $1.selection.count + $1.state.count
        }
        if parts == 0, case .elements(let json) = joined.content { bytes += json.count }
        var writer = JSONWriter(reserving: bytes + 4096)
        if isInArray { writer.beginArray() }
        writer.object { Self.joined(joined, room: room, welcome, limits: limits, parts: parts, into: &$0) }
        if isInArray { writer.endArray() }
        return writer.bytes
    }

    private static func joined(
        _ joined: JoinReply.Joined, room: Identifier, _ welcome: Welcome, limits: GatewayLimits, parts: Int,
        into writer: inout JSONWriter
    ) {
        writer.member("ok", true)
        writer.member("roomId", room.text)
        writer.member("epoch", joined.position.epoch.text)
        writer.member("seq", joined.position.seq)
        Self.content(parts > 0 ? .elements(Array("[]".utf8)) : joined.content, into: &writer)
        writer.member("parts", ifPresent: parts > 0 ? parts : nil)
        writer.objects("members", joined.members.enumerated()) { numbered, writer in
            let (index, member) = numbered
            EventText.member(member, into: &writer)
            let shown = index < joined.awareness.count ? joined.awareness[index] : []
            writer.objects("connections", shown.lazy.filter { !$0.sid.isEmpty }, Self.shown)
        }
        writer.object("self") { writer in
            EventText.member(welcome.identity.member, into: &writer)
            writer.member("right", ifPresent: welcome.identity.right(in: room)?.rawValue)
        }
        writer.member("session", joined.session)
        writer.member("sid", joined.sid.text)
        writer.member("n", joined.number)
        writer.member("throttleMs", welcome.throttle.milliseconds)
        writer.object("limits", limits.encode)
        if !joined.rules.isEmpty { writer.member("rules", raw: joined.rules) }
        writer.member("time", welcome.time)
    }

    private static func content(_ content: RoomContent, into writer: inout JSONWriter) {
        switch content {
        case .elements(let json):
            writer.member("recovered", false)
            writer.member("elements", raw: json)
        case .updates(let updates):
            writer.member("recovered", true)
            writer.objects("updates", updates) { update, writer in
                writer.member("event", update.event.name)
                writer.member("seq", update.seq)
                writer.member("data", raw: update.data)
            }
        }
    }

    private static func shown(_ connection: JoinReply.Shown, into writer: inout JSONWriter) {
        writer.member("sid", connection.sid.text)
        if let cursor = connection.cursor {
            writer.object("cursor") { writer in
                writer.member("x", cursor.x)
                writer.member("y", cursor.y)
            }
        }
        if !connection.selection.isEmpty { writer.member("selection", raw: connection.selection) }
        if !connection.state.isEmpty { writer.member("state", raw: connection.state) }
        if let viewport = connection.viewport {
            writer.object("viewport") { EventText.rect(viewport, into: &$0) }
        }
    }
}

/// What the answer to a join says of the gateway and the app itself.
struct Welcome {
    let identity: Identity
    /// How far apart it is asked to send previews.
    let throttle: Nanoseconds
    /// The gateway's clock, ms since 1970.
    let time: Double
}

extension Refusal {
    /// It as an acknowledgement: `{"ok":false,"error":{…}}`.
    package var acknowledgementText: [UInt8] {
        var writer = JSONWriter(reserving: 160)
        self.encodeAcknowledgement(into: &writer)
        return writer.bytes
    }

    package var httpStatus: Int {
        switch self.code {
        case .invalid, .unknownEvent: 400
        case .forbidden: 403
        case .notFound: 404
        case .conflict, .gap: 409
        case .gone, .sessionExpired: 410
        case .tooLarge: 413
        case .rateLimited: 429
        case .busy, .unavailable: 503
        }
    }
}
