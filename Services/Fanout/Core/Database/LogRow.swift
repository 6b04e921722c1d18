package import JSONBytes
package import Wire

/// One row of the commit log as it is in the database.
package struct LogRow: Equatable, Sendable {
    /// The room's shard.
    package var shard: Int
    /// Its number in the shard's order.
    package var gseq: Int64
    package var room: Identifier
    /// Its number in the room's order.
    package var seq: Int64
    /// The event's name.
    package var event: String
    /// The author.
    package var user: Identifier
    /// The stream of numbers that it belongs to.
    package var session: Identifier
    package var number: Int64
    package var gestures: [EndedGesture]
    /// The hash of its body.
    package var hash: Int64
    /// The shard's chain after it; 0: not known.
    package var chain: Int64
    /// The element, when it is one.
    package var element: Identifier?
    /// For a deletion the JSON array of the deleted elements, parent first.
    package var before: [UInt8]?
    /// The element afterwards, or the JSON array of all that were created together.
    package var after: [UInt8]?
    /// The command that caused it: `undo` or `redo`, nil for an edit.
    package var cause: String?

    package init(
        shard: Int, gseq: Int64, room: Identifier, seq: Int64, event: String, user: Identifier, session: Identifier,
        number: Int64, gestures: [EndedGesture], hash: Int64 = 0, chain: Int64 = 0, element: Identifier?,
        before: [UInt8]?, after: [UInt8]?, cause: String? = nil
    ) {
        self.shard = shard
        self.gseq = gseq
        self.room = room
        self.seq = seq
        self.event = event
        self.user = user
        self.session = session
        self.number = number
        self.gestures = gestures
        self.hash = hash
        self.chain = chain
        self.element = element
        self.before = before
        self.after = after
        self.cause = cause
    }

    /// The update that was published for the row; nil when the row makes no sense.
    package func update(with document: inout JSONDocument) -> Update? {
        guard let event = UpdateEvent(name: self.event), let cause = UpdateCause(name: self.cause),
            (0..<Shard.count).contains(self.shard),
            var elements = event.shape.elements(
                before: self.before, after: self.after, element: self.element, with: &document)
        else { return nil }
        elements.end(self.gestures)
        let link = HistoryChain.link(
            gseq: UInt64(clamping: self.gseq), room: self.room, seq: UInt64(clamping: self.seq), session: self.session,
            number: UInt64(clamping: self.number), body: UInt64(bitPattern: self.hash))
        let isApp = SessionKey.isApp(self.session)
        return Update(
            shard: UInt8(self.shard), gseq: UInt64(clamping: self.gseq), room: self.room,
            seq: UInt64(clamping: self.seq), event: event, user: self.user,
            sid: SessionKey.sid(of: self.session), number: isApp ? UInt64(clamping: self.number) : 0,
            link: link, chain: UInt64(bitPattern: self.chain),
            elements: elements, cause: cause)
    }
}
