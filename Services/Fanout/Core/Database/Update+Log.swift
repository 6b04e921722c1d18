package import JSONBytes
package import Wire

extension Update {
    /// The update that was published for a row of the commit log; nil when the row makes no sense.
    /// - Parameters:
    ///   - session: the stream of numbers that `number` belongs to.
    ///   - hash: of its body.
    ///   - chain: the shard's chain after it; 0: not known.
    ///   - element: the element, when it is one.
    ///   - before: for a deletion the JSON array of the deleted elements, parent first.
    ///   - after: the element afterwards, or the JSON array of all that were created together.
    ///   - cause: the command that caused it: `undo` or `redo`, nil for an edit.
    package init?(
        loggedIn shard: Int, gseq: Int64, room: Identifier, seq: Int64, event: String, user: Identifier,
        session: Identifier, number: Int64, gestures: [EndedGesture], hash: Int64, chain: Int64, element: Identifier?,
        before: [UInt8]?, after: [UInt8]?, cause: String?, with document: inout JSONDocument
    ) {
        guard let event = UpdateEvent(name: event), let cause = UpdateCause(name: cause),
            (0..<Shard.count).contains(shard),
            var elements = event.shape.elements(before: before, after: after, element: element, with: &document)
        else { return nil }
        elements.end(gestures)
        let (gseq, seq, number) = (UInt64(clamping: gseq), UInt64(clamping: seq), UInt64(clamping: number))
        let link = HistoryChain.link(
            gseq: gseq, room: room, seq: seq, session: session, number: number, body: UInt64(bitPattern: hash))
        self.init(
            shard: UInt8(shard), gseq: gseq, room: room, seq: seq, event: event, user: user,
            sid: SessionKey.sid(of: session), number: SessionKey.isApp(session) ? number : 0, link: link,
            chain: UInt64(bitPattern: chain), elements: elements, cause: cause)
    }
}
