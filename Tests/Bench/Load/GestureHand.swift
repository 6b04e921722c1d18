/// One person's fingers on an element, or on a group about it: they drag, pinch and rotate, and lift at the end of each
/// gesture, which commits it.
///
///     (placed) ──answer──► preview … preview ──► commit ──answer──► preview …
///
/// Deltas are relative to the stored position, which is known from the answers. So the position that results from a
/// delta can carry the time at which it was sent, see ``SendTime``; the pivot of a group is its first element's position.
/// Between a commit and its answer no finger is down. Pure.
package struct GestureHand: Sendable {
    /// What is sent next.
    package enum Step: Equatable, Sendable {
        /// The absolute position, after which deltas are known to be relative to it.
        case placement
        case preview
        case commit
        /// Nothing: a commit has no answer yet.
        case rest
    }

    private struct Position {
        var x: Int64
        var y: Int64
    }

    /// Each gesture pinches by this, or by its inverse, so that no element grows for ever.
    private static let pinch = 1.25

    /// The beginning of each event's data: the room and the elements.
    private let target: String
    /// True when several elements move about a pivot.
    package let isGroup: Bool
    /// The number of previews of a gesture.
    private let length: Int
    /// Where the element is stored; nil until it was placed.
    private var stored: Position?
    /// Where the outstanding commit puts it; nil when there is none.
    private var underWay: Position?
    /// Previews of the present gesture, and gestures so far.
    private var shown = 0
    private var gestures = 0

    /// - Parameters:
    ///   - room, element: plain ASCII that needs no escaping.
    ///   - others: the group's further elements; empty: no group.
    ///   - length: the number of previews of a gesture, at least 1.
    package init(room: String, element: String, others: [String] = [], length: Int) {
        self.isGroup = !others.isEmpty
        let ids = ([element] + others).map { "\"\($0)\"" }.joined(separator: ",")
        self.target = #"{"roomId":"\#(room)","# + (others.isEmpty ? #""elementId":\#(ids)"# : #""elements":[\#(ids)]"#)
        self.length = max(1, length)
    }

    /// What is to be sent next.
    package var next: Step {
        if self.underWay != nil { return .rest }
        guard self.stored != nil else { return .placement }
        return self.shown < self.length ? .preview : .commit
    }

    /// The element is being placed.
    /// - Parameter time: microseconds since the start, encoded in its position.
    package mutating func placing(at time: Int64) {
        let (x, y) = SendTime.coordinates(time)
        self.underWay = Position(x: x, y: y)
    }

    /// The preview that is due.
    /// - Parameter time: microseconds since the start.
    package mutating func preview(at time: Int64) -> [UInt8] {
        self.shown += 1
        let event = self.isGroup ? "elements:gesturing" : "element:gesturing"
        return Array("42[\"\(event)\",\(self.data(at: time))}]".utf8)
    }

    /// The commit that is due. Nothing is until it is answered.
    /// - Parameter number: its number in the session.
    package mutating func commit(at time: Int64, id: Int, number: UInt64) -> [UInt8] {
        let event = self.isGroup ? "elements:gesture" : "element:gesture"
        let data = self.data(at: time)
        self.placing(at: time)
        return Array("42\(id)[\"\(event)\",\(data),\"n\":\(number)}]".utf8)
    }

    /// The outstanding placement or commit was answered.
    package mutating func answered(_ answer: Answer) {
        guard let underWay else { return }
        self.underWay = nil
        guard answer == .applied else { return }
        // The first one placed the element.
        if self.stored != nil { self.gestures += 1 }
        self.stored = underWay
        self.shown = 0
    }

    /// The connection ended: whether a commit was applied is not known, so the element is placed again.
    package mutating func disconnected() { (self.stored, self.underWay, self.shown) = (nil, nil, 0) }

    /// The deltas since the gesture began.
    private func data(at time: Int64) -> String {
        let from = self.stored ?? Position(x: 0, y: 0)
        let (x, y) = SendTime.coordinates(time)
        let progress = Double(self.shown) / Double(self.length)
        let factor = self.gestures.isMultiple(of: 2) ? Self.pinch : 1 / Self.pinch
        let scale = 1 + (factor - 1) * min(1, progress)
        let pivot = self.isGroup ? #","pivot":{"x":\#(from.x),"y":\#(from.y)}"# : ""
        return self.target + pivot + #","translation":{"x":\#(x - from.x),"y":\#(y - from.y)}"#
            + #","scale":\#(scale),"rotation":\#(self.shown)"#
    }
}
