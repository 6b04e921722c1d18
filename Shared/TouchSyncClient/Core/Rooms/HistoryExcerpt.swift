public import JSONBytes

/// A page of a room's history behind a number, as `GET /api/rooms/ID/history?after=S` answers.
public struct HistoryExcerpt: Sendable {
    struct Applied: Sendable {
        let seq: Int64
        let sid: TextKey
        let number: Int64
        /// The elements that it changed, after the change.
        let elements: [JSONObject]
    }

    /// Changes that came from apps, in their order.
    let entries: [Applied]
    /// Where the next page begins; nil when this is the last one.
    let next: Int64?
    /// The oldest number of which the history still knows; nil when it has no change any more.
    let oldest: Int64?

    /// The answer's body; nil if it is something else.
    public init?(json: JSONValue) {
        guard let entries = json["entries"], entries.kind == .array else { return nil }
        self.entries = entries.objects.compactMap(Applied.init(json:))
        self.next = json["next"]?.integer
        self.oldest = json["oldest"]?.integer
    }
}

extension HistoryExcerpt.Applied {
    fileprivate init?(json: JSONValue) {
        guard let seq = json["seq"]?.integer, let sid = json["sid"]?.string, let number = json["n"]?.integer else {
            return nil
        }
        self.seq = seq
        self.sid = TextKey(sid)
        self.number = number
        self.elements = (json["changes"]?.objects ?? []).compactMap { change in
            change["after"].flatMap { $0.kind == .object ? JSONObject($0) : nil }
        }
    }
}
