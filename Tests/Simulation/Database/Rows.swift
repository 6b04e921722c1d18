import Canvas
import CommitterCore
import HistoryChecker
import JSONBytes
import Wire

extension ShardBatch.LogRow {
    /// The row as a history has it.
    var record: HistoryRecord {
        var record = HistoryRecord(.log)
        record.room = self.room.text
        record.seq = self.seq
        record.shard = Shard.of(room: self.room)
        record.gseq = self.gseq
        record.session = self.session.text
        record.number = self.number
        record.event = self.event.name
        record.user = self.user.text
        record.cause = self.cause.name ?? ""
        (record.undone, record.value) = (self.undone?.seq ?? 0, Int64(self.undone?.skipped ?? 0))
        let elements = self.elements
        for element in elements {
            guard let id = element["id"]?.string else { continue }
            record.elements[id] = self.event.shape == .deletion ? "" : AppText.state(of: element)[id]
            record.parents[id] = element["parentId"]?.string
            if self.event.shape == .geometries { record.geometry[id] = AppText.geometry(of: element) }
        }
        if self.event.shape == .changes { self.recordDeleted(in: &record) }
        return record
    }

    /// The elements that are in an update of several kinds only as they were.
    private func recordDeleted(in record: inout HistoryRecord) {
        for element in AppText(self.before ?? []).root.children {
            guard let id = element["id"]?.string, record.elements[id] == nil else { continue }
            record.elements[id] = ""
            record.parents[id] = element["parentId"]?.string
        }
    }

    /// The elements that it has changed: as they are now, or as they were when they were deleted.
    private var elements: [JSONValue] {
        let root = AppText((self.event.shape == .deletion ? self.before : self.after) ?? []).root
        return self.event.shape.isSingle ? [root] : root.children
    }
}
