package import Wire

/// A question to the database.
package struct DatabaseRequest: Equatable, Sendable {
    package enum Query: Equatable, Sendable {
        /// The epoch and the last gseq of every shard.
        case heads
        /// A whole room, from one snapshot of the database.
        case room(Identifier)
        /// A room's log after a number, in its order.
        case roomLog(Identifier, after: UInt64, limit: Int)
        /// A shard's log after a number, in its order.
        case shardLog(Int, after: UInt64, limit: Int)
        /// A part of a room's log after a number, with the elements before and after each update.
        case history(Identifier, after: UInt64, limit: Int)
        /// A new owner for a session.
        case claim(room: Identifier, sid: Identifier, user: Identifier)
        /// Another name for the history of this one.
        case moveEpoch(from: Identifier)

        /// True when every room depends on the answer.
        package var isAboutAllRooms: Bool {
            switch self {
            case .heads, .moveEpoch: true
            case .room, .roomLog, .shardLog, .history, .claim: false
            }
        }
    }

    /// Comes back with the answer; never used twice.
    package var tag: UInt64
    package var query: Query
}

package enum DatabaseReply: Equatable, Sendable {
    case heads(ShardHeads)
    case room(RoomSnapshot)
    /// To `roomLog` and `shardLog`.
    case log([Update])
    case history(RoomHistory)
    case claim(ClaimOutcome)
    /// To `moveEpoch`: the history's name now.
    case epoch(Identifier)
    /// The database is away or refused.
    case failed

    /// The updates of a log; nil when it could not be read.
    var rows: [Update]? { if case .log(let rows) = self { rows } else { nil } }
}

package struct ShardHeads: Equatable, Sendable {
    package var epoch: Identifier
    /// The last position, by shard.
    package var marks: [ShardCursor.Mark]

    package init(epoch: Identifier, marks: [ShardCursor.Mark]) {
        self.epoch = epoch
        self.marks = marks
    }
}

/// A room as one snapshot of the database has it.
package struct RoomSnapshot: Equatable, Sendable {
    package struct Element: Equatable, Sendable {
        package var id: Identifier
        package var json: [UInt8]
        /// The number of its last update.
        package var seq: UInt64

        package init(id: Identifier, json: [UInt8], seq: UInt64) {
            self.id = id
            self.json = json
            self.seq = seq
        }
    }

    /// The highest gesture of a session that a recent commit ended on an element.
    package struct ClosedGesture: Equatable, Sendable {
        package var element: Identifier
        /// The session's public name.
        package var sid: Identifier
        package var gesture: UInt64

        package init(element: Identifier, sid: Identifier, gesture: UInt64) {
            self.element = element
            self.sid = sid
            self.gesture = gesture
        }
    }

    /// The room's last sequence number; 0: never used.
    package var seq: UInt64
    /// Its shard's last gseq.
    package var gseq: UInt64
    /// Its shard's chain there; 0: not known.
    package var chain: UInt64
    package var elements: [Element]
    /// Gestures that must stay closed.
    package var closed: [ClosedGesture]

    package init(seq: UInt64, gseq: UInt64, chain: UInt64 = 0, elements: [Element], closed: [ClosedGesture] = []) {
        self.seq = seq
        self.gseq = gseq
        self.chain = chain
        self.elements = elements
        self.closed = closed
    }
}

package enum ClaimOutcome: Equatable, Sendable {
    /// The session's newest owner has this claim; `number` is the highest number that the session has used.
    case granted(sessionEpoch: UInt32, number: UInt64)
    /// The session is another user's, or gone.
    case refused
}
