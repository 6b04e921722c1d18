internal import Canvas
internal import JSONBytes
internal import TouchSyncClientCore

/// What the server's messages say about one room, in the order of its updates.
///
///     first join ──► following ──connection lost──► join with what was missed ──► following
///                        │                          └─ the whole room instead ──► missed, following
///                        └─ an update whose predecessor did not come ──► missed, following
///
/// Missed updates can be read from the room's history. The machine sees the messages that the client sees; when and how
/// to join again is the client's business.
struct TailMachine: Sendable {
    enum Event: Sendable {
        /// The room is followed from this number on.
        case joined(seq: Int64, elements: Int)
        case update(TailUpdate)
        /// Updates that did not come, before everything that follows.
        case missed(after: Int64, upTo: Int64)
        /// The server has another history of the room, in which what was shown may not have happened.
        case historyReplaced(seq: Int64)
        /// Somebody moves something.
        case preview(TailPreview)
    }

    private let room: TextKey
    private var contents = RoomContents()
    /// The number of the last update that was shown or missed; nil before the first join.
    private var lastSeq: Int64?
    private var epoch: String?
    private var isArriving = false

    init(room: String) {
        self.room = TextKey(room)
    }

    mutating func received(_ packet: ServerPacket) -> [Event] {
        switch packet {
        case .answer(_, let answer): self.answered(answer)
        case .event(let name, let data) where data["roomId"]?.string.map(TextKey.init) == self.room:
            self.happened(name, data)
        default: []
        }
    }

    // MARK: Joins

    /// Only the answer to a join says whether the room was recovered.
    private mutating func answered(_ answer: JSONObject) -> [Event] {
        guard answer["ok"]?.bool == true, let isRecovered = answer["recovered"]?.bool,
            answer["roomId"]?.string.map(TextKey.init) == self.room
        else { return [] }
        if isRecovered {
            return (answer["updates"]?.objects ?? []).flatMap { update in
                self.updated(update["event"]?.string ?? "", JSONObject(update["data"]))
            }
        }
        self.contents.began(RoomArrival(answer: answer, sessionNumber: 0))
        self.isArriving = true
        return answer["parts"]?.integer ?? 0 > 0 ? [] : self.arrived()
    }

    /// The whole room is here.
    private mutating func arrived() -> [Event] {
        self.isArriving = false
        self.contents.replaced()
        let seq = self.contents.seq
        let epoch = self.contents.position?.epoch
        defer { (self.lastSeq, self.epoch) = (seq, epoch) }
        guard let lastSeq = self.lastSeq else {
            return [.joined(seq: seq, elements: self.contents.confirmed.count)]
        }
        if epoch != self.epoch { return [.historyReplaced(seq: seq)] }
        return seq > lastSeq ? [.missed(after: lastSeq, upTo: seq)] : []
    }

    // MARK: Events

    private mutating func happened(_ name: String, _ data: JSONObject) -> [Event] {
        switch name {
        case "room:elements": self.isArriving && self.contents.partArrived(data) ? self.arrived() : []
        case "element:transforming": Self.preview(data, by: data).map { [.preview($0)] } ?? []
        case "elements:transforming":
            (data["elements"]?.objects ?? []).compactMap { Self.preview(JSONObject($0), by: data) }.map(Event.preview)
        default: self.updated(name, data)
        }
    }

    private mutating func updated(_ event: String, _ data: JSONObject) -> [Event] {
        guard RoomUpdate(rawValue: event) != nil, let seq = data["seq"]?.integer, let lastSeq = self.lastSeq,
            !self.isArriving, seq > lastSeq
        else { return [] }
        self.lastSeq = seq
        let before = self.contents.confirmed
        let ids = self.contents.apply(event, data, seq: seq)
        let changes = ids.map { id in
            TailUpdate.Change(id: id.text, before: before[id], after: self.contents.confirmed[id])
        }
        let update = TailUpdate(
            seq: seq, event: event, userId: data["userId"]?.string ?? "", cause: data["cause"]?.string,
            changes: changes)
        return (seq > lastSeq + 1 ? [.missed(after: lastSeq, upTo: seq - 1)] : []) + [.update(update)]
    }

    /// - Parameter message: has what is common to a group.
    private static func preview(_ preview: JSONObject, by message: JSONObject) -> TailPreview? {
        guard let id = preview["elementId"]?.string else { return nil }
        return TailPreview(
            elementId: id, userId: message["userId"]?.string ?? "", fields: TransformFields(lenient: preview.value))
    }
}
