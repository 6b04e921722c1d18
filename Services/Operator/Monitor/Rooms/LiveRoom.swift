internal import JSONBytes

/// By what rooms are sorted, the largest first; raw values are those of the fan-outs' page.
package enum RoomSort: String, CaseIterable, Sendable {
    /// Updates and previews of the last seconds.
    case activity
    case members, seq, bytes
}

/// A room in the memory of a fan-out, as `/rooms` of its admin server says.
package struct LiveRoom: Sendable {
    let id: String
    /// The fan-out's name.
    let fanout: String
    private let answer: JSONValue

    /// What is said of it beside its id. `bytes` are roughly those of memory.
    private static let numbers = [
        "members", "connections", "seq", "elements", "bytes", "updatesPerSecond", "previewsPerSecond",
    ]

    /// Reads a fan-out's answer; nil without an id.
    init?(_ json: JSONValue, from fanout: String) {
        guard let id = json["roomId"]?.string else { return nil }
        self.id = id
        self.fanout = fanout
        self.answer = json
    }

    /// A number that is said of it; 0 when it is not.
    subscript(_ name: String) -> Double { self.answer[name]?.double ?? 0 }

    /// A whole number, for people.
    func text(_ name: String) -> String { self.answer[name]?.integer.map { "\($0)" } ?? "0" }

    /// Its members for an open object.
    func members(into writer: inout JSONWriter) {
        writer.member("roomId", self.id)
        writer.member("fanout", self.fanout)
        for name in Self.numbers {
            writer.key(string: name)
            writer.value(self[name])
        }
    }

    private func value(of sort: RoomSort) -> Double {
        sort == .activity ? self["updatesPerSecond"] + self["previewsPerSecond"] : self[sort.rawValue]
    }

    /// Rooms that are equal follow by connections, then by name.
    func precedes(_ other: LiveRoom, by sort: RoomSort) -> Bool {
        let (value, otherValue) = (self.value(of: sort), other.value(of: sort))
        if value != otherValue { return value > otherValue }
        if self["connections"] != other["connections"] { return self["connections"] > other["connections"] }
        return self.id < other.id
    }
}
