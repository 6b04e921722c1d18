import Canvas
import JSONBytes

extension GestureFields {
    /// The deltas in a payload; nil when a part has the wrong kind, which the server refuses, or when there is none.
    init?(lenient payload: JSONObject) {
        do { self = try GestureFields(payload.value) } catch { return nil }
    }

    func encodeMembers(into writer: inout JSONWriter, withAnchor: Bool) {
        if let translation = self.translation { writer.member("translation", translation) }
        if let scale = self.scale {
            if scale.x == scale.y { writer.member("scale", scale.x) } else { writer.member("scale", scale) }
        }
        writer.member("rotation", ifPresent: self.rotation)
        if let tilt = self.tilt { writer.member("tilt", tilt) }
        if withAnchor, let anchor = self.anchor { writer.member("anchor", anchor) }
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ point: Point) {
        self.object(name) { writer in
            writer.member("x", point.x)
            writer.member("y", point.y)
        }
    }
}
