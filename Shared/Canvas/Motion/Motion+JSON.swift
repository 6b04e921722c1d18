public import JSONBytes

extension Motion: JSONEncodable {
    /// Writes `{field: {startedAt, segments: [{from, to, ms, curve}, …]}, …}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        for (field, track) in self.tracks.entries.map({ ($0.field, $0.value) }) {
            writer.object(field.name) { writer in
                writer.member("startedAt", track.startedAt)
                writer.objects("segments", track.segments) { $0.encodeMembers(into: &$1) }
            }
        }
        writer.endObject()
    }

    /// Parses the output of `encode`; nil for another text.
    public init?(json: JSONValue) {
        guard json.kind == .object else { return nil }
        var previous: ElementField?
        for (key, value) in json.members {
            guard let field = ElementField.named(key, after: previous), field.isAnimated,
                let track = Track(json: value)
            else { return nil }
            previous = field
            self[field] = track
        }
    }
}

extension Track {
    fileprivate init?(json: JSONValue) {
        guard let startedAt = json["startedAt"]?.double, let segments = json["segments"], segments.count > 0 else {
            return nil
        }
        self.init(startedAt: startedAt, segments: [])
        for value in segments.elements {
            guard let segment = Segment(json: value) else { return nil }
            self.segments.append(segment)
        }
    }
}

extension Segment {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("from", self.from)
        writer.member("to", self.to)
        writer.member("ms", self.ms)
        writer.key("curve")
        switch self.curve {
        case .easing(let easing): easing.encode(into: &writer)
        case .spring(let spring):
            writer.beginObject()
            writer.object("spring") { writer in
                writer.member("response", spring.response)
                writer.member("damping", spring.damping)
                writer.member("velocity", spring.velocity)
            }
            writer.endObject()
        case .decay(let decay):
            writer.beginObject()
            writer.object("decay") { $0.member("rate", decay.rate) }
            writer.endObject()
        }
    }

    fileprivate init?(json: JSONValue) {
        guard let from = json["from"]?.double, let to = json["to"]?.double, let ms = json["ms"]?.double, ms > 0,
            let curve = json["curve"].flatMap(Curve.init(json:))
        else { return nil }
        self.init(from: from, to: to, ms: ms, curve: curve)
    }
}

extension Curve {
    fileprivate init?(json: JSONValue) {
        if let spring = json["spring"] {
            guard let response = spring["response"]?.double, response > 0, let damping = spring["damping"]?.double,
                damping > 0, let velocity = spring["velocity"]?.double
            else { return nil }
            self = .spring(Spring(response: response, damping: damping, velocity: velocity))
        } else if let decay = json["decay"] {
            guard let rate = decay["rate"]?.double, Decay.rates.contains(rate) else { return nil }
            self = .decay(Decay(rate: rate))
        } else {
            guard let easing = try? Easing(json, "") else { return nil }
            self = .easing(easing)
        }
    }
}
