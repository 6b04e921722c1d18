import Canvas
import CommitterCore
import FanoutCore
import HistoryChecker
import JSONBytes
import Wire

extension ShardBatch.LogRow {
    /// What was published for the row.
    var update: Update {
        var document = JSONDocument()
        let update = Update(
            loggedIn: Shard.of(room: self.room), gseq: Int64(self.gseq), room: self.room, seq: Int64(self.seq),
            event: self.event.name, user: self.user, session: self.session, number: Int64(self.number),
            gestures: Array(self.gestures), hash: Int64(bitPattern: self.hash), chain: Int64(bitPattern: self.chain),
            element: self.element, before: self.before, after: self.after, cause: self.cause.name,
            with: &document)
        guard let update else { fatalError("a row that makes no sense: \(self)") }
        return update
    }

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
