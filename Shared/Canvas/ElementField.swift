import JSONBytes

/// The field names of a flat element, except the app's own, in the order in which an element is written.
enum ElementField: Int, CaseIterable {
    case id, type, positionX, positionY, width, height, rotation, scaleX, scaleY, originalWidth, originalHeight
    case anchorX, anchorY, createdBy, updatedBy, rev, locked, snapDegrees, bounds, fontSize, zIndex, space, parentId
    /// Fields that a broadcast adds to the element's: an extra field of that name would be a duplicate key there.
    case roomId, seq, userId, sid, n, cause, part, parts

    private static let names: [StaticString] = [
        "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "originalWidth",
        "originalHeight", "anchorX", "anchorY", "createdBy", "updatedBy", "rev", "locked", "snapDegrees", "bounds",
        "fontSize", "zIndex", "space", "parentId", "roomId", "seq", "userId", "sid", "n", "cause", "part", "parts",
    ]

    var name: StaticString { Self.names[self.rawValue] }

    /// The field of that name; nil if it is the app's own. Most objects are in the order in which we write them, so the
    /// search starts after the previous field.
    static func named(_ key: JSONValue, after previous: ElementField?) -> ElementField? {
        let count = self.names.count
        var index = (previous?.rawValue ?? -1) + 1
        for _ in 0..<count {
            if index >= count { index = 0 }
            if key.isString(self.names[index]) { return ElementField(rawValue: index) }
            index += 1
        }
        return nil
    }
}
