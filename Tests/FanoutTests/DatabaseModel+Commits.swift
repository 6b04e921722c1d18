import Canvas
import DatabaseTestKit
import Testing
import Wire

@testable import CommitterCore

/// Rows as a committer writes them, whatever their elements were before.
extension DatabaseModel {
    /// Ann changes an element.
    /// - Returns: what is published.
    @discardableResult
    mutating func commit(
        _ element: Identifier = "e", _ json: String? = nil, room: Identifier = "r", sid: Identifier = "s-ann",
        gesture: UInt64 = 0
    ) -> Update {
        let json = Array((json ?? Scene.element(element)).utf8)
        return self.commit(ElementKey(room, element), .transformed, json, StreamKey(room, sid), gesture)
    }

    /// Ann deletes an element.
    mutating func delete(_ element: Identifier) -> Update {
        self.commit(ElementKey("r", element), .deleted, nil, StreamKey("r", "s-ann"), 0)
    }

    private mutating func commit(
        _ key: ElementKey, _ event: UpdateEvent, _ json: [UInt8]?, _ stream: StreamKey, _ gesture: UInt64
    ) -> Update {
        let (id, shard) = (key.element, Shard.of(room: key.room))
        let (head, former, seq) = (self.shards[shard], self[key], self.seq(of: key.room) + 1)
        var state = self.streams[stream] ?? StreamState(user: "ann", highest: 0, sessionEpoch: 1)
        state.highest += 1
        let link = HistoryChain.link(
            gseq: head.gseq + 1, room: key.room, seq: seq, session: stream.session, number: state.highest, body: 0)
        var batch = ShardBatch(shard: shard, version: head.version, gseq: head.gseq, chain: head.chain)
        batch.gseq += 1
        batch.chain = HistoryChain.next(head.chain, link)
        batch.log = [
            ShardBatch.LogRow(
                room: key.room, seq: seq, gseq: batch.gseq, event: event, user: "ann", session: stream.session,
                number: state.highest, gestures: gesture > 0 ? [EndedGesture(element: id, gesture: gesture)] : [],
                element: id, hash: 0, chain: batch.chain,
                before: former.map { json == nil ? Array("[".utf8) + $0.live.json + Array("]".utf8) : $0.live.json },
                after: json)
        ]
        let element = Element(id: id.text, type: "note", createdBy: "ann")
        let live = LiveElement(
            element: element, json: json ?? former?.live.json ?? [], children: nil,
            authors: RecentAuthors(last: ChangeMark(user: "ann", seq: seq)))
        batch.elements = [
            ShardBatch.ElementRow(
                room: key.room, live: live, seq: seq, isDeleted: json == nil,
                isRestored: former?.isDeleted == true)
        ]
        var totals = self.totals(of: key.room)
        let growth = (json == nil ? 0 : 1) - (former?.isDeleted == false ? 1 : 0)
        totals.elements += growth
        totals.bytes += growth * element.storedBytes
        batch.rooms.set(StoredRoom(seq: seq, totals: totals), for: key.room)
        batch.streams.set(state, for: stream)
        #expect(self.write(batch) == .written && self.faults.isEmpty)
        return batch.log[0].update
    }
}
