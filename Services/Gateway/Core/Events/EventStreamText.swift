import JSONBytes
import Wire

/// Writes a room's numbered stream as Server-Sent Events (HTML Living Standard, section 9.2). Each has its position as `id`,
/// from which a reader that was cut off goes on.
package enum EventStreamText {
    /// The whole room, if that was asked for or the position is of no use any more, or what came behind it.
    static func opening(_ joined: JoinReply.Joined, of room: Identifier) -> [UInt8] {
        var text: [UInt8] = []
        switch joined.content {
        case .elements(let elements):
            let json = AnswerText.room(room, at: joined.position, elements: elements)
            text.reserveCapacity(json.count + 128)
            Self.append("room:reset", json, at: joined.position, to: &text)
        case .updates(let updates):
            // A comment: the answer has begun, even if nothing was missed.
            text.append(contentsOf: Self.heartbeat)
            for update in updates { text.append(contentsOf: Self.update(update, epoch: joined.position.epoch)) }
        }
        return text
    }

    static func update(_ update: Update, epoch: Identifier) -> [UInt8] {
        var text: [UInt8] = []
        Self.append(update.event.name, update.data, at: Position(epoch: epoch, seq: update.seq), to: &text)
        return text
    }

    /// A comment, by which a reader sees that its connection lives.
    package static let heartbeat = Array(":\n\n".utf8)

    private static func append(
        _ event: String, _ json: some Collection<UInt8>, at position: Position, to text: inout [UInt8]
    ) {
        text.append(contentsOf: "id: \(position.epoch.text):\(position.seq)\nevent: \(event)\ndata: ".utf8)
        // What is stored has no line breaks, which would end the event.
        text.append(contentsOf: json)
        text.append(contentsOf: "\n\n".utf8)
    }

    /// Reads the position that an `id` names.
    static func position(_ text: String) throws(Refusal) -> Position {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
            text.utf8.count <= Self.longestPlace, let seq = Self.number(text[text.utf8.index(after: colon)...])
        else {
            throw Refusal(.invalid, "A place is the id of an event, epoch:seq.", field: "after")
        }
        return Position(epoch: Identifier(String(text[..<colon])), seq: seq)
    }

    private static let longestPlace = 150

    /// Digits only: the initialiser would accept a sign as well. Up to 2^53 − 1, which every JSON reader keeps exactly.
    private static func number(_ digits: Substring) -> UInt64? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt64(digits).flatMap { $0 < 1 << 53 ? $0 : nil }
    }
}
