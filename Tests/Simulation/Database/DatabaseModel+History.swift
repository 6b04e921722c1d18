import CommitterCore
import FanoutCore
import JSONBytes
import Wire

extension DatabaseModel {
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
