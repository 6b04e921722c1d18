import Canvas
import JSONBytes
import TouchSyncClientCore

/// A `<` line: the type of an output, and its fields as JSON.
struct TranscriptOutput {
    let type: String
    let text: String

    /// - Parameter ids: how the file writes the names of edits that are no strings.
    init(_ output: ClientOutput, ids: [String: [UInt8]]) {
        switch output {
        case .openSocket: self.init("open")
        case .closeSocket: self.init("close")
        case .send(let packet): self.init("send", packet)
        case .requestToken(let reason): self.init("token") { $0.member("reason", reason.rawValue) }
        case .failed(let failure): self.init("failure") { $0.member("code", failure.code.rawValue) }
        case .stateChanged(let state): self.init("state") { $0.member("state", state.rawValue) }
        case .refused(let error): self.init("error") { $0.member("error", error.details) }
        case .room(let room, let output): self.init(output, room: room, ids: ids)
        }
    }

    private init(_ output: RoomOutput, room: String, ids: [String: [UInt8]]) {
        self.init(Self.type(output)) { writer in
            writer.member("roomId", room)
            switch output {
            case .save(let record, let isFirst):
                writer.member("record", record)
                if isFirst { writer.member("isFirst", true) }
            case .readHistory(let after): writer.member("after", after)
            case .joined(let recovered):
                writer.member("phase", "joined")
                writer.member("recovered", recovered)
            case .refused(let error):
                writer.member("phase", "refused")
                writer.member("error", error.details)
            case .left: writer.member("phase", "left")
            case .result(let id, let answer):
                writer.key("id")
                if let written = ids[id] { writer.raw(written) } else { writer.value(id) }
                writer.member("answer", answer.details)
            case .changed(let ids): writer.member("ids", ids)
            case .moving(let id), .still(let id): writer.member("elementId", id)
            case .membersChanged: break
            case .signal(let signal):
                writer.member("userId", signal.userId)
                writer.member("sid", signal.sid)
                writer.member("name", signal.name)
                writer.member("data", raw: signal.json)
            case .awareness(let user, let sid, let shift):
                writer.member("userId", user)
                writer.member("sid", sid)
                Self.encode(shift, into: &writer)
            }
        }
    }

    private init(_ type: String, _ rest: String = "") {
        self.type = type
        self.text = rest.isEmpty ? type : "\(type) \(rest)"
    }

    private init(_ type: String, _ members: (inout JSONWriter) -> Void) {
        self.init(type, String(decoding: JSONWriter.text(members), as: UTF8.self))
    }

    private static func type(_ output: RoomOutput) -> String {
        switch output {
        case .save: "save"
        case .readHistory: "history"
        case .joined, .refused, .left: "room"
        case .result: "result"
        case .changed: "changed"
        case .moving: "moving"
        case .still: "still"
        case .membersChanged: "members"
        case .awareness: "awareness"
        case .signal: "signal"
        }
    }

    private static func encode(_ shift: AwarenessShift, into writer: inout JSONWriter) {
        switch shift {
        case .selection(let ids): writer.member("selection", ids)
        case .cursor(nil):
            writer.key("cursor")
            writer.null()
        case .state(let text):
            writer.key("state")
            if let text { writer.raw(Array(text.utf8)) } else { writer.null() }
        case .viewport(nil):
            writer.key("viewport")
            writer.null()
        case .viewport(let rect?):
            writer.object("viewport") { writer in
                writer.member("x", rect.origin.x)
                writer.member("y", rect.origin.y)
                writer.member("width", rect.size.width)
                writer.member("height", rect.size.height)
            }
        case .cursor(let point?):
            writer.object("cursor") { writer in
                writer.member("x", point.x)
                writer.member("y", point.y)
            }
        }
    }
}
