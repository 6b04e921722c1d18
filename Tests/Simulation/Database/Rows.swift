import Canvas
import CommitterCore
import HistoryChecker
import JSONBytes
import Wire

extension LiveElement {
    /// An element with its JSON text, spelt as the daemons spell it.
    convenience init(json element: Element) {
        var writer = JSONWriter(reserving: 384)
        element.encode(into: &writer)
        self.init(element: element, json: writer.bytes, children: nil)
    }
}

extension ShardBatch.LogRow {
    /// What was published for the row.
    var update: Update {
        let states = self.event == .deleted ? [] : self.after ?? []
        var elements = self.element.map { [UpdatedElement(id: $0, json: states)] } ?? []
        elements.end(self.gestures)
        let isApp = SessionKey.isApp(self.session)
        return Update(
            shard: UInt8(Shard.of(room: self.room)), gseq: self.gseq, room: self.room, seq: self.seq,
            event: self.event, user: self.user, sid: SessionKey.sid(of: self.session),
            number: isApp ? self.number : 0, link: self.link, chain: self.chain,
            elements: elements)
    }

    private var link: UInt64 {
        HistoryChain.link(
            gseq: self.gseq, room: self.room, seq: self.seq, session: self.session, number: self.number,
            body: self.hash)
    }

    /// The row as a history has it. Worlds know only changes of one element.
    var record: HistoryRecord {
        var record = HistoryRecord(.log)
        record.room = self.room.text
        record.seq = self.seq
        record.shard = Shard.of(room: self.room)
        record.gseq = self.gseq
        record.session = self.session.text
        record.number = self.number
        record.event = self.event.name
        record.element = self.element?.text ?? ""
        record.body = self.event == .deleted ? "" : String(decoding: self.after ?? [], as: UTF8.self)
        return record
    }
}
