import FanoutCore
import Wire

/// The database as far as a fan-out can tell: the log, the elements, the shards' heads, the sessions' claims.
struct DatabaseModel {
    var epoch: Identifier = "epoch-1"
    var gseqs = [UInt64](repeating: 0, count: Shard.count)
    var chains = [UInt64](repeating: 0, count: Shard.count)
    var logs: [Identifier: [Update]] = [:]
    var claims: [Identifier: UInt32] = [:]
    /// Rows of another era are others.
    var era: UInt64 = 0
    /// Sessions of somebody else.
    var foreign: Set<Identifier> = []
    /// The log begins after that many updates of each room.
    var pruned: [Identifier: Int] = [:]

    /// Commits a change of elements; nil deletes.
    mutating func commit(
        _ room: Identifier, _ elements: [(Identifier, String?)], event: UpdateEvent = .transformed,
        sid: Identifier = "s-ann", gesture: UInt64 = 0
    ) -> Update {
        let shard = Shard.of(room: room)
        self.gseqs[shard] += 1
        // What a row is hashed to is nobody's business here, as long as it is its own.
        let link = HistoryChain.link(
            gseq: self.gseqs[shard], room: room, seq: UInt64(self.logs[room, default: []].count) + 1, session: sid,
            number: self.era, body: UInt64(self.logs.values.joined().count))
        self.chains[shard] = HistoryChain.next(self.chains[shard], link)
        let update = Update(
            shard: UInt8(shard), gseq: self.gseqs[shard], room: room,
            seq: UInt64(self.logs[room, default: []].count) + 1, event: event, user: "ann", sid: sid, number: 0,
            link: link, chain: self.chains[shard],
            elements: elements.map {
                UpdatedElement(id: $0.0, json: $0.1.map { Array($0.utf8) } ?? [], gesture: gesture)
            })
        self.logs[room, default: []].append(update)
        return update
    }

    var marks: [ShardCursor.Mark] {
        zip(self.gseqs, self.chains).map { ShardCursor.Mark($0, chain: $1) }
    }

    func snapshot(of room: Identifier) -> RoomSnapshot {
        var elements: [RoomSnapshot.Element] = []
        for update in self.logs[room] ?? [] {
            for element in update.elements {
                elements.removeAll { $0.id == element.id }
                if !element.json.isEmpty {
                    elements.append(RoomSnapshot.Element(id: element.id, json: element.json, seq: update.seq))
                }
            }
        }
        var closed: [RoomSnapshot.ClosedGesture] = []
        for update in self.logs[room] ?? [] {
            closed += update.elements.filter { $0.gesture > 0 }.map {
                RoomSnapshot.ClosedGesture(element: $0.id, sid: update.sid, gesture: $0.gesture)
            }
        }
        return RoomSnapshot(
            seq: UInt64(self.logs[room]?.count ?? 0), gseq: self.gseqs[Shard.of(room: room)],
            chain: self.chains[Shard.of(room: room)], elements: elements, closed: closed)
    }

    func log(of room: Identifier, after seq: UInt64, limit: Int) -> [Update] {
        let rows = (self.logs[room] ?? []).dropFirst(self.pruned[room] ?? 0)
        return Array(rows.filter { $0.seq > seq }.prefix(limit))
    }

    func shardLog(_ shard: Int, after gseq: UInt64, limit: Int) -> [Update] {
        let rows = self.logs.keys.filter { Shard.of(room: $0) == shard }
            .flatMap { self.log(of: $0, after: 0, limit: .max) }
        return Array(rows.filter { $0.gseq > gseq }.sorted { $0.gseq < $1.gseq }.prefix(limit))
    }

    mutating func answer(_ query: DatabaseRequest.Query) -> DatabaseReply {
        switch query {
        case .heads: return .heads(ShardHeads(epoch: self.epoch, marks: self.marks))
        case .room(let room): return .room(self.snapshot(of: room))
        case .roomLog(let room, let after, let limit): return .log(self.log(of: room, after: after, limit: limit))
        case .shardLog(let shard, let after, let limit):
            return .log(self.shardLog(shard, after: after, limit: limit))
        case .history(let room, let after, let limit):
            let rows = self.log(of: room, after: after, limit: limit)
            return .history(
                RoomHistory(
                    last: UInt64(self.logs[room]?.count ?? 0),
                    oldest: self.log(of: room, after: 0, limit: 1).first?.seq,
                    entries: rows.map { HistoryEntry($0) }))
        case .moveEpoch(let epoch):
            if epoch == self.epoch { self.epoch = Identifier("\(epoch)+") }
            return .epoch(self.epoch)
        case .claim(_, let sid, _):
            if self.foreign.contains(sid) { return .claim(.refused) }
            self.claims[sid, default: 1] += 1
            return .claim(.granted(sessionEpoch: self.claims[sid] ?? 0, number: 7))
        }
    }
}

extension HistoryEntry {
    /// The entry of an update that created its elements.
    init(_ update: Update) {
        self.init(
            seq: update.seq, at: "2026-01-01T00:00:00.000Z", event: update.event.name, user: update.user,
            sid: update.sid, number: update.number,
            changes: update.elements.map { HistoryEntry.Change(element: $0.id, before: [], after: $0.json) })
    }
}

extension Update {
    /// The same with other numbers or a trace.
    func changed(gseq: UInt64? = nil, seq: UInt64? = nil, trace: TraceID? = nil) -> Update {
        Update(
            shard: self.shard, gseq: gseq ?? self.gseq, room: self.room, seq: seq ?? self.seq, event: self.event,
            user: self.user, sid: self.sid, number: self.number, link: self.link, chain: self.chain,
            elements: self.elements, cause: self.cause, trace: trace ?? self.trace)
    }
}
