package import JSONBytes

/// By what rooms are sorted, the largest first; raw values are those of the fan-outs' page.
package enum RoomSort: String, CaseIterable, Sendable {
    /// Updates and previews of the last seconds.
    case activity
    case members, seq, bytes
}

/// A room in the memory of a fan-out, as `/rooms` of its admin server says.
package struct LiveRoom: Equatable, Sendable {
    package var id: String
    /// The fan-out's name.
    package var fanout: String
    package var members = 0
    package var connections = 0
    package var seq: UInt64 = 0
    package var elements = 0
    /// Roughly the bytes of memory.
    package var bytes = 0
    package var updatesPerSecond = 0.0
    package var previewsPerSecond = 0.0

    /// A room without anybody.
    package init(id: String, fanout: String) {
        self.id = id
        self.fanout = fanout
    }

    /// Reads a fan-out's answer; nil without an id.
    package init?(_ json: JSONValue, from fanout: String) {
        guard let id = json["roomId"]?.string else { return nil }
        self.init(id: id, fanout: fanout)
        self.members = json["members"]?.quantity ?? 0
        self.connections = json["connections"]?.quantity ?? 0
        self.seq = json["seq"]?.integer.flatMap(UInt64.init(exactly:)) ?? 0
        self.elements = json["elements"]?.quantity ?? 0
        self.bytes = json["bytes"]?.quantity ?? 0
        self.updatesPerSecond = json["updatesPerSecond"]?.double ?? 0
        self.previewsPerSecond = json["previewsPerSecond"]?.double ?? 0
    }

    /// Its members for an open object.
    func members(into writer: inout JSONWriter) {
        writer.member("roomId", self.id)
        writer.member("fanout", self.fanout)
        writer.member("members", self.members)
        writer.member("connections", self.connections)
        writer.member("seq", self.seq)
        writer.member("elements", self.elements)
        writer.member("bytes", self.bytes)
        writer.member("updatesPerSecond", self.updatesPerSecond)
        writer.member("previewsPerSecond", self.previewsPerSecond)
    }

    /// The value by which it is sorted.
    fileprivate func value(of sort: RoomSort) -> Double {
        switch sort {
        case .activity: self.updatesPerSecond + self.previewsPerSecond
        case .members: Double(self.members)
        case .seq: Double(self.seq)
        case .bytes: Double(self.bytes)
        }
    }

    /// Rooms that are equal follow by connections, then by name.
    func precedes(_ other: LiveRoom, by sort: RoomSort) -> Bool {
        let (value, otherValue) = (self.value(of: sort), other.value(of: sort))
        if value != otherValue { return value > otherValue }
        if self.connections != other.connections { return self.connections > other.connections }
        return self.id < other.id
    }
}

extension JSONValue {
    /// A number of things: whole and not negative.
    fileprivate var quantity: Int? { self.integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil } }
}
