internal import Wire

/// How a gateway knows its join again: one that was sent twice is answered once while it waits.
struct JoinKey: Hashable, Sendable {
    let gateway: GatewayID
    let request: UInt64
}

/// A join on its way to an answer: it needs the room, the session and, with `resume`, perhaps a part of the log.
struct PendingJoin: Sendable {
    /// How far the session is.
    enum Session: Sendable, Equatable {
        /// Not looked at yet: nothing is known of the database.
        case unknown
        /// A new one is issued with the answer.
        case new
        /// The secret is good; the database has not given the session to this connection yet.
        case claiming(sid: Identifier)
        /// It is this connection's.
        case claimed(sid: Identifier, claim: UInt32, number: UInt64)
    }

    /// How far the missed updates are.
    enum Replay: Sendable {
        case notAsked
        case asked
        /// What the log had, or nothing at all.
        case answered([Update])
    }

    let gateway: GatewayID
    let join: Join
    /// Until when it waits for the update that its gateway has acknowledged, ns.
    let followsUntil: UInt64
    /// The connection left before it was answered: it leaves right after the answer.
    var leavesAfter = false
    var session = Session.unknown
    var replay = Replay.notAsked
}
