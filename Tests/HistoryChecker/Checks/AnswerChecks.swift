// That whatever asks for an answer gets one, whatever it is.

extension HistoryIndex {
    /// I14: a request has exactly one answer, in time, or the server closed its connection; an answer that names a number
    /// names a row. A commit without a number is never refused for one.
    func answers() -> Verdict.Finding {
        var finding = Verdict.Finding()
        var open: [String: [UInt64: Int]] = [:]
        for place in self.history.indices {
            let record = self.history[place]
            switch record.kind {
            case .request:
                finding.checked += 1
                open[record.client, default: [:]][record.number] = place
            case .answer:
                guard let request = open[record.client]?.removeValue(forKey: record.number) else {
                    finding.violated("answered twice, or never requested", [place])
                    continue
                }
                let due = max(self.healTime, self.history[request].time) + Self.answerTime
                if self.heal != nil, record.time > due { finding.violated("answered late", [request, place]) }
                if ["conflict", "gap"].contains(record.code) {
                    finding.violated("refused for a number that its app did not give", [request, place])
                }
                if record.seq > self.rooms[record.room]?.floor ?? 0, self.row(record.room, record.seq) == nil {
                    finding.violated("applied, but not in the log", [place])
                }
            case .closed: open[record.client] = nil
            default: break
            }
        }
        for request in open.values.flatMap(\.values).sorted() { finding.violated("never answered", [request]) }
        return finding
    }
}
