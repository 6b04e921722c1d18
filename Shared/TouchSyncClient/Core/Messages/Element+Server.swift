package import Canvas
package import JSONBytes

extension Element {
    /// An element as the server sends it. Fields that are absent or cannot be read have their defaults, so that an
    /// older or newer server's elements are shown as well as they can be; nil without an id.
    package init?(server json: JSONValue, isEnvelope: Bool = false) {
        guard let id = json["id"]?.string else { return nil }
        self.init(id: id, type: "", createdBy: "")
        self.overlay(json, isEnvelope: isEnvelope)
    }

    /// Replaces the fields that the server sends; all others stay.
    /// - Parameter isEnvelope: whether what a broadcast adds to an element is none of its own fields.
    mutating func overlay(_ json: JSONValue, isEnvelope: Bool = false) {
        var own: [ExtraField] = []
        var previous: ElementField?
        let id = self.id
        for (key, value) in json.members {
            if let field = ElementField.named(key, after: previous), isEnvelope || ElementField.stored.contains(field) {
                previous = field
                _ = field.read(value, into: &self)
            } else if let name = key.string {
                own.append(ExtraField(name: name, json: Array(value.rawBytes)))
            }
        }
        self.id = id
        self.extra.merge(own)
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
