import Canvas

extension HistoryIndex {
    /// I26: nothing passes while nobody does anything, although elements move.
    /// - Returns: also how many elements moved through a whole silence.
    func silences() -> (finding: Verdict.Finding, moving: Int64) {
        var (finding, moving) = (Verdict.Finding(), Int64(0))
        var hushes: [String: Int] = [:]
        for place in self.history.indices {
            let record = self.history[place]
            switch record.kind {
            case .hush: hushes[record.room] = place
            case .stir:
                guard let hush = hushes.removeValue(forKey: record.room) else { continue }
                finding.expect(record.value == 0, "messages passed while nobody did anything", [hush, place])
                moving += self.moving(in: record.room, from: self.history[hush].time, to: record.time)
            default:
                guard record.kind.isOfTraffic, let hush = hushes[record.room] else { continue }
                finding.violated("something passed while nobody did anything", [hush, place])
            }
        }
        return (finding, moving)
    }

    /// How many of a room's elements as they are at the end move through a span of time.
    private func moving(in room: String, from start: Double, to end: Double) -> Int64 {
        let elements = (self.rooms[room]?.elements ?? []).map { Element(stored: self.history[$0].body) }
        return Int64(elements.count { !$0.playback.fields(at: end).isEmpty && $0.hasStarted(by: start) })
    }
}

extension HistoryRecord.Kind {
    /// Whether it is of a message, or of what causes some.
    fileprivate var isOfTraffic: Bool {
        switch self {
        case .invoke, .ok, .refused, .deliver, .legacy, .previewSent, .preview, .pointed, .cursor, .selected: true
        case .snapshot, .resumed, .resync, .edit, .result, .shown: true
        default: false
        }
    }
}

extension Element {
    /// Whether all that moves it began until then.
    fileprivate func hasStarted(by time: Double) -> Bool {
        self.motion.tracks.entries.allSatisfy { $0.value.startedAt <= time }
            && self.animation.map { $0.startedAt + $0.delayMs <= time } ?? true
    }
}
