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
    /// The names of the fields that a preview has.
    static func fields(of preview: JSONValue?) -> [String] {
        let places = ["positionX", "positionY", "positionZ"].filter { preview?[$0] != nil }
        return places + (preview?["transform"]?.members.compactMap(\.key.string) ?? [])
    }

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

    /// A state with another part of the element, its geometry or its animation; everything else in it stays, but for the user
    /// that changed the element last. An animation that the part does not name stays, one that it says to be null goes.
    /// - Parameter isAnimation: the part is the animation, which is gone if it is absent.
    static func merge(_ part: JSONValue, into state: String, by user: JSONValue?, isAnimation: Bool = false) -> String {
        let former = AppText(Array(state.utf8)).root
        var writer = JSONWriter(reserving: 400)
        writer.beginObject()
        for (key, value) in (isAnimation ? former : part).members {
            let name = key.string ?? ""
            if !Self.geometryNames.contains(name) || name == "rev" { continue }
            writer.key(string: name)
            writer.raw(value.rawBytes)
        }
        let animation = part["animation"] ?? (isAnimation ? nil : former["animation"])
        for (key, value) in former.members {
            let name = key.string ?? ""
            if Self.geometryNames.contains(name) && name != "rev" || name == "animation" { continue }
            writer.key(string: name)
            writer.raw(((name == "updatedBy" ? user : name == "rev" ? part[name] : nil) ?? value).rawBytes)
            if name == "rev", let animation, !animation.isNull {
                writer.key("animation")
                writer.raw(animation.rawBytes)
            }
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static let geometryNames: Set = [
        "id", "type", "positionX", "positionY", "positionZ", "width", "height", "rotation", "rotationX", "rotationY",
        "scaleX", "scaleY", "perspective", "opacity", "originalWidth", "originalHeight", "anchorX", "anchorY", "motion",
        "rev",
    ]

    /// The geometries of an array of elements, by id.
    static func geometries(of elements: JSONValue?) -> [String: String] {
        var geometries: [String: String] = [:]
        for element in elements?.children ?? [] {
            if let id = element["id"]?.string { geometries[id] = Self.geometry(of: element) }
        }
        return geometries
    }

    /// The geometry in a state, as updates and acknowledgements of groups have it.
    static func geometry(of state: JSONValue) -> String {
        var writer = JSONWriter(reserving: 300)
        writer.beginObject()
        for (key, value) in state.members {
            guard let name = key.string, Self.geometryNames.contains(name) else { continue }
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
