import Canvas
import JSONBytes
import TouchSyncClientCore

/// A `>` line: a time, a type, and the rest, which is the text of a packet or the other fields as JSON.
struct TranscriptInput {
    let time: Int64
    let type: String
    let rest: String
    private let fields: JSONObject

    /// Nil if it is no such line.
    init?(_ text: Substring) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let time = Int64(parts[0]) else { return nil }
        self.time = time
        self.type = String(parts[1])
        self.rest = parts.count > 2 ? String(parts[2]) : ""
        self.fields = JSONObject(text: Array(self.rest.utf8)) ?? .empty
    }

    /// What the edit is called in the file: any JSON value.
    var id: JSONValue? { self.fields["id"] }

    /// The input; nil if its type is not known.
    var input: ClientInput? {
        switch self.type {
        case "connect": .connect
        case "disconnect": .disconnect
        case "opened": .opened
        case "closed": .closed(self.string("failure").flatMap(Self.failure))
        case "packet": .packetReceived(self.rest)
        case "time": .timeReached
        case "token": .tokenProvided(self.string("token"))
        case "tokenFailed": .tokenFailed
        case "online": .networkReturned
        case "offline": .networkLost
        case "foreground": .foregrounded
        case "background": .backgrounded
        default: self.roomInput.map { .room(self.string("roomId") ?? "", $0) }
        }
    }

    private var roomInput: RoomInput? {
        let (name, ids) = (self.string("gesture") ?? "", self.fields["elementIds"]?.elements.compactMap(\.string) ?? [])
        switch self.type {
        case "join": return .join(record: self.fields["record"].flatMap(RoomRecord.init(json:)))
        case "leave": return .leave
        case "deliver": return .deliver
        case "edit":
            return .edit(id: self.editID, event: self.string("event") ?? "", body: JSONObject(self.fields["body"]))
        case "history":
            let after = self.fields["after"]?.integer ?? 0
            return .historyRead(after: after, self.fields["page"].flatMap(HistoryExcerpt.init(json:)))
        case "begin": return .gestureBegan(name, elementIds: ids, pivot: self.fields["pivot"].flatMap(Self.point))
        case "move": return .gestureMoved(name, self.deltas)
        case "end":
            guard let throwing = self.throwing else { return .gestureEnded(name, id: self.editID) }
            return .gestureThrown(name, id: self.editID, throwing)
        case "cancel": return .gestureCancelled(name)
        case "point": return .pointed(Self.point(self.fields))
        case "select": return .selected(ids)
        case "look":
            return .looked(self.fields["viewport"].flatMap(Self.rect), isShared: self.fields["share"]?.bool ?? false)
        case "signal":
            let json = self.fields["data"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
            return .signaled(self.string("name") ?? "", json ?? "null")
        case "show":
            return .presented(self.fields["state"].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? "")
        default: return nil
        }
    }

    private func string(_ name: String) -> String? { self.fields[name]?.string }

    private var editID: String { self.id.map(Self.name) ?? "" }

    /// What the core calls an edit.
    static func name(_ id: JSONValue) -> String { id.string ?? String(decoding: id.rawBytes, as: UTF8.self) }

    private var deltas: GestureFields {
        self.fields["deltas"].flatMap { try? GestureFields($0) } ?? GestureFields()
    }

    private var throwing: GestureThrow? {
        guard let json = self.fields["throwing"] else { return nil }
        var throwing = GestureThrow(velocity: json["velocity"].flatMap(Self.point))
        throwing.request.rate = json["rate"]?.double ?? throwing.request.rate
        throwing.request.bounce = json["bounce"]?.double ?? throwing.request.bounce
        return throwing
    }

    private static func failure(_ code: String) -> ConnectionFailure? {
        ConnectionFailure.Code(rawValue: code).map { ConnectionFailure($0) }
    }

    private static func point(_ object: JSONObject) -> Point? {
        guard let x = object["x"]?.double, let y = object["y"]?.double else { return nil }
        return Point(x: x, y: y)
    }

    private static func point(_ value: JSONValue) -> Point? { Self.point(JSONObject(value)) }

    private static func rect(_ value: JSONValue) -> Rect? {
        guard let origin = Self.point(value), let width = value["width"]?.double, let height = value["height"]?.double
        else { return nil }
        return Rect(x: origin.x, y: origin.y, width: width, height: height)
    }
}
