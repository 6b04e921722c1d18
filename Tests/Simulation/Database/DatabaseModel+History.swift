import Canvas
import CommitterCore
import DatabaseTestKit
import FanoutCore
import GatewayCore
import HistoryChecker
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
        let room = Identifier(room)
        // Nothing was ever stored in a room without changes.
        let oldest = self.log(of: room).suffix(kept).first?.seq ?? 1
        let history = self.history(of: room, after: max(seq, oldest - 1), limit: limit)
        let next = history.entries.last.flatMap { $0.seq < history.last ? $0.seq : nil }
        return AnswerText.history(HistoryPage(entries: history.entries, next: next, oldest: oldest))
    }
}
