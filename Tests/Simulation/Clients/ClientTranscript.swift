import Canvas
import JSONBytes
import TouchSyncClientCore

/// What happened to a run of a client, as a transcript that every core of a client can follow; see
/// Tests/ClientTranscripts.
struct ClientTranscript {
    /// What generators of chance return while it is written.
    static let random = 0.5

    private(set) var lines = [
        "# A client in a simulated world: what happened to it, and where it had what moves.",
        "hide open close send token history save failure state error room result changed moving still members awareness",
    ]
    /// A page of a room's history as it came.
    var page = "null"

    mutating func append(_ input: ClientInput, at now: Int64) {
        self.lines.append("> \(now) \(self.text(of: input))")
    }

    /// Where elements are at a time.
    mutating func append(_ poses: [(id: String, pose: Pose)], in room: String, at time: Double) {
        let json = JSONWriter.text { writer in
            for (id, pose) in poses {
                writer.key(string: id)
                ClientScreen.encode(pose, into: &writer)
            }
        }
        self.lines.append("= posed \(time) \(room) \(String(decoding: json, as: UTF8.self))")
    }

    private func text(of input: ClientInput) -> String {
        switch input {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .opened: "opened"
        case .closed: "closed"
        case .packetReceived(let packet): "packet \(packet)"
        case .timeReached: "time"
        case .networkReturned: "online"
        case .networkLost: "offline"
        case .foregrounded: "foreground"
        case .backgrounded: "background"
        case .tokenProvided, .tokenFailed: "tokenFailed"
        case .room(let room, let input):
            "\(Self.type(input)) "
                + String(
                    decoding: JSONWriter.text { writer in
                        writer.member("roomId", room)
                        self.encode(input, into: &writer)
                    }, as: UTF8.self)
        }
    }

    private static func type(_ input: RoomInput) -> String {
        switch input {
        case .join: "join"
        case .leave: "leave"
        case .deliver: "deliver"
        case .edit: "edit"
        case .historyRead: "history"
        case .gestureBegan: "begin"
        case .gestureMoved: "move"
        case .gestureEnded, .gestureThrown: "end"
        case .gestureCancelled: "cancel"
        case .pointed: "point"
        case .selected: "select"
        case .looked: "look"
        case .presented: "show"
        case .signaled: "signal"
        }
    }

    private func encode(_ input: RoomInput, into writer: inout JSONWriter) {
        switch input {
        case .join(let record): if let record { writer.member("record", record) }
        case .leave, .deliver: break
        case .edit(let id, let event, let body):
            writer.member("id", id)
            writer.member("event", event)
            writer.member("body", body)
        case .historyRead(let after, _):
            writer.member("after", after)
            writer.key("page")
            writer.raw(Array(self.page.utf8))
        case .gestureBegan(let name, let ids, let pivot):
            writer.member("gesture", name)
            writer.member("elementIds", ids)
            if let pivot { writer.object("pivot") { Self.encode(pivot, into: &$0) } }
        case .gestureMoved(let name, let fields):
            writer.member("gesture", name)
            writer.object("deltas") { writer in
                if let translation = fields.translation {
                    writer.object("translation") { Self.encode(translation, into: &$0) }
                }
                if let scale = fields.scale { writer.object("scale") { Self.encode(scale, into: &$0) } }
                writer.member("rotation", ifPresent: fields.rotation)
                if let tilt = fields.tilt { writer.object("tilt") { Self.encode(tilt, into: &$0) } }
            }
        case .gestureEnded(let name, let id):
            writer.member("gesture", name)
            writer.member("id", id)
        case .gestureThrown(let name, let id, _):
            writer.member("gesture", name)
            writer.member("id", id)
            writer.object("throwing") { _ in }
        case .gestureCancelled(let name): writer.member("gesture", name)
        case .pointed(let point?): Self.encode(point, into: &writer)
        case .pointed(nil):
            for name in ["x", "y"] {
                writer.key(string: name)
                writer.null()
            }
        case .selected(let ids): writer.member("elementIds", ids)
        case .signaled(let name, let json):
            writer.member("name", name)
            writer.member("data", raw: Array(json.utf8))
        case .presented(let state):
            writer.key("state")
            writer.raw(Array(state.utf8))
        case .looked(let view, let isShared):
            if isShared { writer.member("share", true) }
            guard let view else { return }
            writer.object("viewport") { writer in
                Self.encode(view.origin, into: &writer)
                writer.member("width", view.size.width)
                writer.member("height", view.size.height)
            }
        }
    }

    private static func encode(_ point: Point, into writer: inout JSONWriter) {
        writer.member("x", point.x)
        writer.member("y", point.y)
    }
}
