import Canvas
import JSONBytes
import TouchSyncClient
import TouchSyncClientCore

/// The methods of a room by their names.
extension Driver {
    func edit(_ room: SyncRoom, _ arguments: [JSONValue]) throws -> Answer {
        let method = try Self.text(arguments, 0)
        let rest = Array(arguments.dropFirst())
        switch method {
        case "point": room.point(Self.point(rest.first))
        case "select": room.select(rest.first.map(Self.ids) ?? [])
        case "leave": room.leave()
        case "history":
            let (after, limit) = (rest.first?["after"]?.integer ?? 0, rest.first?["limit"]?.integer ?? 50)
            return .later { HistoryView(page: try await room.history(after: after, limit: Int(limit))) }
        default:
            let edit = try self.syncEdit(room, method, rest)
            return .later { try await edit.result.details }
        }
        return .now(Nothing())
    }

    func syncEdit(_ room: SyncRoom, _ method: String, _ arguments: [JSONValue]) throws -> SyncEdit {
        switch (method, arguments.count) {
        case ("undo", _): return room.undo()
        case ("redo", _): return room.redo()
        case ("create", 1...): return room.create(try NewElement(arguments[0], path: ""))
        case ("createAll", 1...):
            return room.createAll(try arguments[0].elements.map { try NewElement($0, path: "") })
        case ("transformAll", 1...):
            return room.transformAll(
                arguments[0].elements.map { ($0["elementId"]?.string ?? "", TransformFields(lenient: $0)) })
        case ("delete", 1...):
            guard let id = arguments[0].string else { return room.delete(Self.ids(arguments[0])) }
            return room.delete(id)
        case (_, 2...): return try self.syncEdit(room, method, of: try Self.text(arguments, 0), arguments[1])
        default: throw Misuse(text: "no method \(method) of a room")
        }
    }

    private func syncEdit(_ room: SyncRoom, _ method: String, of id: String, _ value: JSONValue) throws -> SyncEdit {
        switch method {
        case "transform": return room.transform(id, TransformFields(lenient: value))
        case "update": return room.update(id, try ElementChanges(value))
        case "resize": return room.resize(id, width: value["width"]?.double, height: value["height"]?.double)
        case "preset":
            guard let preset = value.string.flatMap(Preset.init(rawValue:)) else { throw Misuse(text: "no preset") }
            return room.preset(id, preset)
        case "edit": return room.edit(id, JSONObject(value))
        default: throw Misuse(text: "no method \(method) of a room")
        }
    }

    private static func point(_ value: JSONValue?) -> Point? {
        guard let x = value?["x"]?.double, let y = value?["y"]?.double else { return nil }
        return Point(x: x, y: y)
    }
}
