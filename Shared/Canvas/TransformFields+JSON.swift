package import JSONBytes

extension TransformFields {
    /// The values in a payload, where those of `transform` may stand beside it; what is no number counts as absent.
    package init(lenient payload: JSONValue) {
        self.init()
        let transform = payload["transform"]
        for field in ElementField.moving {
            self[field] = transform?[field.name]?.double ?? payload[field.name]?.double
        }
    }

    /// Writes the members `transform` and what stands beside it.
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.object("transform") { self.encode(ElementField.inTransform, into: &$0) }
        self.encode(ElementField.besideTransform, into: &writer)
    }

    /// Writes those of some fields that are set as members, as an element has them.
    package func encode(_ fields: [ElementField] = ElementField.transform, into writer: inout JSONWriter) {
        for field in fields { writer.member(field.name, ifPresent: self[field]) }
    }
}
