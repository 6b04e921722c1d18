package import CommitterCore
import FanoutCore
import JSONBytes
package import Wire

extension ShardBatch.LogRow {
    /// What was published for the row.
    package var update: Update {
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

    /// What histories tell of the row. The model has no clock.
    var entry: HistoryEntry {
        var document = JSONDocument()
        return HistoryEntry(
            seq: self.seq, at: "2026-01-01T00:00:00.000Z", event: self.event.name, user: self.user,
            sid: SessionKey.sid(of: self.session), number: SessionKey.isApp(self.session) ? self.number : 0,
            cause: self.cause, changes: [HistoryEntry.Change](before: self.before, after: self.after, with: &document))
    }
}
