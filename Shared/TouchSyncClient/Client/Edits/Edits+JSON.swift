public import Canvas
public import JSONBytes

extension ExtraField {
    /// A field of the app's own with a value.
    public init(_ name: String, _ value: some JSONEncodable) {
        var writer = JSONWriter()
        value.encode(into: &writer)
        self.init(name: name, json: writer.bytes)
    }
}

extension NewElement {
    /// Writes the element as the server reads it.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", ifPresent: self.id)
        writer.member("type", self.type)
        self.transform.encodePosition(into: &writer)
        self.transform.encodeShape(into: &writer)
        self.transform.encodeHints(into: &writer)
        writer.member("anchorX", ifPresent: self.anchorX)
        writer.member("anchorY", ifPresent: self.anchorY)
        writer.member("space", ifPresent: self.space?.rawValue)
        writer.member("parentId", ifPresent: self.parentId)
        var options = ElementChanges(self)
        (options.originalWidth, options.originalHeight) = (self.originalWidth, self.originalHeight)
        options.extra = self.extra
        options.encodeMembers(into: &writer)
        writer.endObject()
    }
}

extension TransformFields {
    /// Writes the members of a transform's payload.
    func encodeMembers(into writer: inout JSONWriter) {
        self.encodePosition(into: &writer)
        self.encodeHints(into: &writer)
        writer.object("transform") { self.encodeShape(into: &$0) }
    }

    fileprivate func encodePosition(into writer: inout JSONWriter) {
        writer.member("positionX", ifPresent: self.positionX)
        writer.member("positionY", ifPresent: self.positionY)
    }

    fileprivate func encodeShape(into writer: inout JSONWriter) {
        writer.member("rotation", ifPresent: self.rotation)
        writer.member("scaleX", ifPresent: self.scaleX)
        writer.member("scaleY", ifPresent: self.scaleY)
    }

    fileprivate func encodeHints(into writer: inout JSONWriter) {
        writer.member("width", ifPresent: self.width)
        writer.member("height", ifPresent: self.height)
    }
}

extension ElementChanges {
    /// Writes the members of an update's `set`.
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("fontSize", ifPresent: self.fontSize)
        writer.member("locked", ifPresent: self.locked)
        writer.member("snapDegrees", ifPresent: self.snapDegrees)
        writer.member("bounds", ifPresent: self.bounds)
        writer.member("zIndex", ifPresent: self.zIndex)
        writer.member("originalWidth", ifPresent: self.originalWidth)
        writer.member("originalHeight", ifPresent: self.originalHeight)
        for field in self.extra {
            writer.key(string: field.name)
            writer.raw(field.json)
        }
    }
}
