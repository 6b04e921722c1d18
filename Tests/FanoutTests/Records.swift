import Canvas
import FanoutCore
import Wire

extension Member {
    static func named(_ user: String) -> Member {
        Member(user: Identifier(user), name: user.uppercased(), color: "#123456")
    }
}

extension Preview {
    /// A preview by Ann's connection 1.
    static func by(
        _ sid: Identifier = "s-ann", _ connection: UInt64 = 1, room: Identifier = "r", element: Identifier = "e",
        gesture: UInt64 = 1, after: UInt64 = 0, showing fields: TransformFields = TransformFields(positionX: 5)
    ) -> Preview {
        Preview(
            room: room, element: element, connection: connection, user: "ann", sid: sid, gesture: gesture,
            after: after, fields: fields)
    }
}

extension GatewayRecord {
    /// The list of a small room's members.
    static func members(_ names: [String], isComplete: Bool) -> GatewayRecord {
        .roomMembers(RoomMembers(room: "r", isComplete: isComplete, members: names.map(Member.named)))
    }
}

extension [GatewayRecord] {
    /// The answers to joins, as what they give.
    var joined: [JoinReply.Joined] {
        self.compactMap { record in
            guard case .joinReply(let reply) = record, case .success(let joined) = reply.outcome else { return nil }
            return joined
        }
    }

    /// The refusals of joins.
    var refusals: [Refusal] {
        self.compactMap { record in
            guard case .joinReply(let reply) = record, case .failure(let refusal) = reply.outcome else { return nil }
            return refusal
        }
    }

    /// The answers to reads of histories.
    var histories: [HistoryReply] {
        self.compactMap { if case .historyReply(let reply) = $0 { reply } else { nil } }
    }

    var previews: [Preview] {
        self.compactMap { if case .preview(let preview) = $0 { preview } else { nil } }
    }

    var awareness: [Awareness] {
        self.compactMap { if case .awareness(let awareness) = $0 { awareness } else { nil } }
    }

    /// The numbers of the updates.
    var seqs: [UInt64] {
        self.compactMap { if case .update(let update) = $0 { update.seq } else { nil } }
    }

    var positions: [RoomPosition] {
        self.compactMap { if case .roomPosition(let position) = $0 { position } else { nil } }
    }

    /// Who came (+) and left (-).
    var presence: [String] {
        self.compactMap {
            if case .presence(let news) = $0 { (news.hasJoined ? "+" : "-") + news.member.user.text } else { nil }
        }
    }
}

extension Result {
    /// Why there is no value.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension Awareness {
    /// The cursor that it shows.
    var cursor: Point? { if case .cursor(let cursor) = self.value { cursor } else { nil } }
    /// The selection that it shows; nil if it is of another part.
    var selection: [Identifier]? { if case .selection(let elements) = self.value { elements } else { nil } }
    var isHidden: Bool { self.value.isNothing }
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
