import Canvas
import CommitterCore
import DatabaseTestKit
import FanoutCore
import HistoryChecker
import JSONBytes
import Wire

extension DatabaseModel {
    /// All that the checker wants to know of it.
    func dump() -> [HistoryRecord] {
        let rooms = self.rooms.sorted { $0.key < $1.key }
        var records = rooms.flatMap { self.log(of: $0.key).map(\.record) }
        for (room, state) in rooms {
            var record = HistoryRecord(.room)
            (record.room, record.seq) = (room.text, state.seq)
            records.append(record)
        }
        for (shard, row) in self.shards.enumerated() where row.gseq > 0 {
            var record = HistoryRecord(.shard)
            (record.shard, record.gseq) = (shard, row.gseq)
            records.append(record)
        }
        for (room, _) in rooms {
            for (id, stored) in self.elements(of: room).sorted(by: { $0.key < $1.key }) where !stored.isDeleted {
                var record = HistoryRecord(.element)
                (record.room, record.element) = (room.text, id.text)
                record.body = String(decoding: stored.live.json, as: UTF8.self)
                record.parent = stored.element.parentId ?? ""
                record.show(stored: AppText(stored.live.json).root)
                records.append(record)
            }
        }
        return records
    }

    /// A page of a room's history, as the gateway answers over HTTP.
    /// - Parameter kept: how many of the room's last changes it tells of.
    func historyPage(of room: String, after seq: UInt64, limit: Int, kept: Int) -> [UInt8] {
        let rows = self.log(of: Identifier(room)).suffix(kept)
        let page = rows.filter { $0.seq > seq }.prefix(limit)
        var writer = JSONWriter()
        writer.beginObject()
        writer.objects("entries", Array(page)) { row, writer in row.encodeEntry(into: &writer) }
        let isLast = page.last?.seq == rows.last?.seq || page.isEmpty
        writer.member("next", isLast ? nil : page.last?.seq)
        // Nothing was ever stored in a room without changes.
        writer.member("oldest", rows.first?.seq ?? 1)
        writer.endObject()
        return writer.bytes
    }
}

extension ShardBatch.LogRow {
    /// Writes the members of the row's entry into the open object.
    fileprivate func encodeEntry(into writer: inout JSONWriter) {
        writer.member("seq", self.seq)
        writer.member("event", self.event.name)
        writer.member("userId", self.user.text)
        writer.member("sid", SessionKey.sid(of: self.session).text)
        if SessionKey.isApp(self.session) { writer.member("n", self.number) }
        var document = JSONDocument()
        let changes = [HistoryEntry.Change](before: self.before, after: self.after, with: &document)
        writer.objects("changes", changes) { change, writer in
            writer.member("elementId", change.element.text)
            writer.key("before")
            if change.before.isEmpty { writer.null() } else { writer.raw(change.before) }
            writer.key("after")
            if change.after.isEmpty { writer.null() } else { writer.raw(change.after) }
        }
    }
}
