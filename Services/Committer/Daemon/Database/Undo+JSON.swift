internal import CommitterCore
internal import JSONBytes
internal import Wire

// The forms in which the database keeps what concerns undo; only this program writes and reads them.

extension UndoneEntry {
    /// Appends `{"seq","event","skipped"}`.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seq", self.seq)
        writer.member("event", self.event.name)
        writer.member("skipped", UInt64(self.skipped))
        writer.endObject()
    }

    init?(json: JSONValue) {
        guard let seq = json.unsigned("seq"), let event = json["event"]?.string.flatMap(UpdateEvent.init(name:)),
            let skipped = json.count("skipped")
        else { return nil }
        self.init(seq: seq, event: event, skipped: skipped)
    }
}

extension ShardBatch.RefusalRow.Outcome {
    /// Appends the refusal, or `{"seq"}`.
    func encode(into writer: inout JSONWriter) {
        switch self {
        case .refused(let refusal):
            refusal.encode(into: &writer)
        case .unchanged(let seq):
            writer.beginObject()
            writer.member("seq", seq)
            writer.endObject()
        }
    }

    init?(json: JSONValue) {
        if let refusal = Refusal(json: json) {
            self = .refused(refusal)
        } else if let seq = json.unsigned("seq") {
            self = .unchanged(seq: seq)
        } else {
            return nil
        }
    }
}

extension JSONValue {
    fileprivate func unsigned(_ name: String) -> UInt64? {
        self[name]?.integer.flatMap(UInt64.init(exactly:))
    }

    fileprivate func count(_ name: String) -> Int? {
        self[name]?.integer.flatMap(Int.init(exactly:)).flatMap { $0 >= 0 ? $0 : nil }
    }
}
