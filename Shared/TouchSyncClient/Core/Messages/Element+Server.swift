package import Canvas
package import JSONBytes

extension Element {
    /// What the server adds to an element that it announces.
    private static let envelope = ["roomId", "seq", "userId", "sid", "n", "cause", "part", "parts"]

    /// An element as the server sends it. Fields that are absent or cannot be read have their defaults, so that an
    /// older or newer server's elements are shown as well as they can be; nil without an id.
    package init?(server json: JSONValue, isEnvelope: Bool = false) {
        guard let id = json["id"]?.string else { return nil }
        self.init(id: id, type: "", createdBy: "")
        self.overlay(json, except: isEnvelope ? Self.envelope : [])
    }

    /// Replaces the fields that the server sends; all others stay.
    mutating func overlay(_ json: JSONValue, except names: [String] = []) {
        var own: [ExtraField] = []
        for (key, value) in json.members {
            guard let name = key.string, !names.contains(name) else { continue }
            if !self.setNumber(name, value.double), !self.setOption(name, value) {
                own.append(ExtraField(name: name, json: Array(value.rawBytes)))
            }
        }
        self.extra.merge(own)
    }

    /// Sets a field of the geometry; false if that is none.
    private mutating func setNumber(_ name: String, _ number: Double?) -> Bool {
        switch name {
        case "positionX": self.positionX = number ?? self.positionX
        case "positionY": self.positionY = number ?? self.positionY
        case "rotation": self.rotation = number ?? self.rotation
        case "scaleX": self.scaleX = number ?? self.scaleX
        case "scaleY": self.scaleY = number ?? self.scaleY
        case "originalWidth": self.originalWidth = number ?? self.originalWidth
        case "originalHeight": self.originalHeight = number ?? self.originalHeight
        case "anchorX": self.anchorX = number ?? self.anchorX
        case "anchorY": self.anchorY = number ?? self.anchorY
        // Computed from the scale.
        case "width", "height": break
        default: return false
        }
        return true
    }

    /// Sets another field of the protocol; false if it is the app's own.
    private mutating func setOption(_ name: String, _ value: JSONValue) -> Bool {
        switch name {
        case "id": break
        case "type": self.type = value.string ?? self.type
        case "createdBy": self.createdBy = value.string ?? self.createdBy
        case "updatedBy": self.updatedBy = value.string ?? self.updatedBy
        case "rev": self.rev = value.integer ?? self.rev
        case "locked": self.locked = value.bool ?? self.locked
        case "snapDegrees": self.snapDegrees = value.double
        case "bounds": self.bounds = Bounds(server: value)
        case "fontSize": self.fontSize = value.double
        case "zIndex": self.zIndex = value.double
        case "space": self.space = value.string.flatMap(Space.init(rawValue:)) ?? self.space
        case "parentId": self.parentId = value.string
        default: return false
        }
        return true
    }
}

extension [ExtraField] {
    /// Replaces the fields of the same names, and appends the others: in linear time, as nothing bounds what a server sends.
    fileprivate mutating func merge(_ fields: [ExtraField]) {
        guard !fields.isEmpty else { return }
        var places = [TextKey: Int](
            self.enumerated().map { (TextKey($1.name), $0) }, uniquingKeysWith: { first, _ in first })
        for field in fields {
            if let place = places[TextKey(field.name)] {
                self[place] = field
            } else {
                places[TextKey(field.name)] = self.count
                self.append(field)
            }
        }
    }
}

extension Bounds {
    fileprivate init?(server json: JSONValue) {
        guard let corner = json.point, let width = json["width"]?.double, let height = json["height"]?.double else {
            return nil
        }
        self.init(x: corner.x, y: corner.y, width: width, height: height)
    }
}
