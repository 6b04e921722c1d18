internal import Canvas
internal import JSONBytes
internal import OperatorTerminal

/// A tail's output: lines for people, or lines of JSON.
struct TailLines: Sendable {
    private let room: String
    private let isJSON: Bool
    private let style: TerminalStyle

    init(room: String, isJSON: Bool, style: TerminalStyle) {
        self.room = room
        self.isJSON = isJSON
        self.style = style
    }

    /// An update.
    /// - Parameter time: when it arrived or was stored, such as `2026-01-31T12:03:44.123Z`.
    func line(of update: TailUpdate, time: String) -> String {
        guard !self.isJSON else {
            return JSONWriter.line { writer in
                writer.member("type", "update")
                writer.member("roomId", self.room)
                writer.member("seq", update.seq)
                writer.member("time", time)
                writer.member("userId", update.userId)
                writer.member("event", update.event)
                writer.member("cause", ifPresent: update.cause)
                writer.objects("changes", update.changes) { change, writer in
                    writer.member("elementId", change.id)
                    writer.member("what", ChangeWords.words(of: change))
                }
            }
        }
        let cause = update.cause.map { self.style.paint(" (\($0))", .warning) } ?? ""
        let words = TerminalText.clean(ChangeWords.text(of: update.changes))
        return self.line(time, "#\(update.seq)", user: update.userId, update.event, words) + cause + "\n"
    }

    func line(of preview: TailPreview, time: String) -> String {
        guard !self.isJSON else {
            return JSONWriter.line { writer in
                writer.member("type", "preview")
                writer.member("roomId", self.room)
                writer.member("time", time)
                writer.member("userId", preview.userId)
                writer.member("elementId", preview.elementId)
                preview.fields.encode(into: &writer)
            }
        }
        let words = TerminalText.clean(ChangeWords.text(of: preview))
        return self.style.paint(self.line(time, "~", user: preview.userId, "preview", words, isFaint: true), .faint)
            + "\n"
    }

    /// Something about the connection or the room, such as `reconnecting`.
    func note(_ kind: String, _ text: String, seq: Int64? = nil, time: String) -> String {
        guard !self.isJSON else {
            return JSONWriter.line { writer in
                writer.member("type", kind)
                writer.member("roomId", self.room)
                writer.member("seq", ifPresent: seq)
                writer.member("time", time)
                writer.member("text", text)
            }
        }
        return self.style.paint("\(Self.timeOfDay(time))  -- \(TerminalText.clean(text))", .warning) + "\n"
    }

    private func line(
        _ time: String, _ number: String, user: String, _ event: String, _ words: String, isFaint: Bool = false
    ) -> String {
        let time = Self.timeOfDay(time)
        let name = TerminalText.fit(TerminalText.clean(user), to: 12)
        let head = TerminalText.fit(number, to: 6, isRight: true)
        let kind = TerminalText.fit(event, to: 20)
        if isFaint { return "\(time) \(head)  \(name)  \(kind)  \(words)" }
        return self.style.paint(time, .faint) + " " + self.style.paint(head, .strong) + "  \(name)  "
            + self.style.paint(kind, .faint) + "  \(words)"
    }

    /// `12:03:44.123`, UTC.
    private static func timeOfDay(_ time: String) -> String {
        String((time.split(separator: "T", maxSplits: 1).last ?? "").prefix(12))
    }
}
