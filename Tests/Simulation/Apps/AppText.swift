import JSONBytes

/// What a gateway sent, parsed once for all apps that get it.
final class AppText {
    let json: [UInt8]
    private var document: JSONDocument?

    init(_ json: [UInt8]) {
        self.json = json
    }

    /// The text's value; null when it is no JSON.
    var root: JSONValue {
        if let document { return document.root }
        var document = JSONDocument()
        do { try document.parse(self.json) } catch {}
        self.document = document
        return document.root
    }

    // MARK: States

    /// The states of an array of elements, by id.
    static func states(of elements: JSONValue?) -> [String: String] {
        var states: [String: String] = [:]
        for element in elements?.children ?? [] {
            if let id = element["id"]?.string { states[id] = Self.text(element) }
        }
        return states
    }

    /// The state of one element.
    static func state(of element: JSONValue?) -> [String: String] {
        guard let element, let id = element["id"]?.string else { return [:] }
        return [id: Self.text(element)]
    }

    /// The state of an element whose event is the element itself, with fields of the event behind its own.
    static func flatState(of data: JSONValue) -> [String: String] {
        guard let id = data["id"]?.string else { return [:] }
        let text = Self.text(data)
        let end = text.firstRange(of: ",\"roomId\":")?.lowerBound ?? text.endIndex
        return [id: text[..<end] + "}"]
    }

    /// The empty states of deleted elements.
    static func deletedStates(of ids: JSONValue?) -> [String: String] {
        Dictionary((ids?.children ?? []).compactMap { $0.string.map { ($0, "") } }) { $1 }
    }

    /// A state with another geometry; everything else in it stays, but for the user that moved the element last.
    static func merge(_ geometry: JSONValue, into state: String, by user: JSONValue?) -> String {
        var writer = JSONWriter(reserving: 400)
        writer.beginObject()
        for (key, value) in AppText(Array(state.utf8)).root.members {
            let name = key.string ?? ""
            writer.key(string: name)
            writer.raw(((name == "updatedBy" ? user : geometry[name]) ?? value).rawBytes)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The geometry in a state, as updates and acknowledgements of groups have it.
    static func geometry(of state: JSONValue) -> String {
        let names: Set = [
            "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "originalWidth",
            "originalHeight", "anchorX", "anchorY", "rev",
        ]
        var writer = JSONWriter(reserving: 300)
        writer.beginObject()
        for (key, value) in state.members {
            guard let name = key.string, names.contains(name) else { continue }
            writer.key(string: name)
            writer.raw(value.rawBytes)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func text(_ value: JSONValue) -> String { String(decoding: value.rawBytes, as: UTF8.self) }
}

extension JSONValue {
    /// An array's values.
    var children: [JSONValue] { Array(self.elements) }
}
