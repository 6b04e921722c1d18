import HistoryChecker

extension Histories {
    /// Ada creates a photo with an annotation and a note, moves photo and note as a group after previews of both, and
    /// deletes the photo, with which the annotation goes. Bob sees all of it.
    static let groups: [HistoryRecord] =
        [
            snapshot("ada", 0, seq: 0, [:]),
            snapshot("bob", 1, seq: 0, [:]),
            group("ada", 2, 1, "elements:create", ["photo", "mark", "note"]),
            acknowledged("ada", 3, 1, seq: 1, created),
        ] + delivered(4, seq: 1, "elements-created", 1, created) + [
            previewSent("ada", 5, "photo", gesture: 1),
            previewSent("ada", 5, "note", gesture: 1),
            preview("bob", 6, "note", from: "ada", gesture: 1),
            group("ada", 7, 2, "elements:transform", ["photo", "note"], gesture: 1),
            positioned("ada", 8, 2, seq: 2, ["photo": "5", "note": "6"]),
        ] + delivered(9, seq: 2, "elements-transformed", 2, moved) + [
            group("ada", 10, 3, "elements:transform", ["note", "gone"]),
            refused("ada", 11, 3, "not_found", final: true),
            invoke("ada", 12, 4, "element:delete", "photo"),
            acknowledged("ada", 13, 4, seq: 3, deleted),
        ] + delivered(14, seq: 3, "deleted", 4, deleted) + [
            HistoryRecord(.heal, time: 15),
            HistoryRecord(.quiet, time: 20),
            row(1, 1, "elements-created", created, parents: ["mark": "photo"]),
            row(2, 2, "elements-transformed", moved, geometry: ["photo": "5", "note": "6"]),
            row(3, 4, "deleted", deleted, parents: ["mark": "photo"]),
            room(seq: 3),
            shard(gseq: 3),
            element("note", "at 6"),
        ]

    private static let created = ["photo": "at 0", "mark": "at 1", "note": "at 2"]
    private static let moved = ["photo": "at 5", "note": "at 6"]
    private static let deleted = ["photo": "", "mark": ""]

    // MARK: Records

    private static func group(
        _ client: String, _ time: Double, _ n: UInt64, _ event: String, _ targets: [String], gesture: UInt64 = 0
    ) -> HistoryRecord {
        var record = invoke(client, time, n, event, "", gesture: gesture)
        record.targets = targets
        return record
    }

    private static func acknowledged(
        _ client: String, _ time: Double, _ n: UInt64, seq: UInt64, _ states: [String: String]
    ) -> HistoryRecord {
        var record = ok(client, time, n, seq: seq, "")
        record.elements = states
        return record
    }

    private static func positioned(
        _ client: String, _ time: Double, _ n: UInt64, seq: UInt64, _ geometry: [String: String]
    ) -> HistoryRecord {
        var record = ok(client, time, n, seq: seq, "")
        record.geometry = geometry
        return record
    }

    private static func delivered(
        _ time: Double, seq: UInt64, _ event: String, _ n: UInt64, _ states: [String: String]
    ) -> [HistoryRecord] {
        ["ada", "bob"].map { client in
            var record = deliver(client, time, seq: seq, event, n, "", "")
            record.elements = states
            return record
        }
    }

    private static func row(
        _ seq: UInt64, _ n: UInt64, _ event: String, _ states: [String: String], geometry: [String: String] = [:],
        parents: [String: String] = [:]
    ) -> HistoryRecord {
        var record = log(seq: seq, gseq: seq, n, event, "", "")
        (record.elements, record.geometry, record.parents) = (states, geometry, parents)
        return record
    }
}

extension [HistoryRecord] {
    /// The history with every record of a room's number changed: the row, and what apps received of it.
    func changing(seq: UInt64, _ change: (inout HistoryRecord) -> Void) -> Self {
        self.map { record in
            guard record.seq == seq, [.log, .deliver, .ok].contains(record.kind) else { return record }
            var record = record
            change(&record)
            return record
        }
    }
}
