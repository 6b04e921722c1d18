/// A preview or commit of one sender: a text that is built once, into which the send time is written for each message.
struct MovingMessage: Sendable {
    private(set) var text: [UInt8]
    private let fixedCount: Int
    private let x: Int
    private let y: Int
    private let rotation: Int

    /// - Parameter column: the sender's, from 0; see ``SendTime``.
    init(room: String, element: String, isCommit: Bool, column: Int = 0) {
        let id = isCommit ? "\(CommitLane.firstID)" : ""
        let event = isCommit ? "element:transform" : "element:transforming"
        var text = Array(
            #"42\#(id)["\#(event)",{"roomId":"\#(room)","elementId":"\#(element)","transform":{"rotation":"#.utf8)
        self.rotation = text.count
        text += #"100.5},"positionX":\#(column > 0 ? "\(column)" : "")"#.utf8
        self.x = text.count
        text += #"\#(SendTime.firstX),"positionY":"#.utf8
        self.y = text.count
        text += "\(SendTime.firstY)".utf8
        self.fixedCount = text.count
        self.text = text + "}]".utf8
    }

    /// Writes the send time, microseconds since the start.
    mutating func stamp(_ time: Int64) {
        let (x, y) = SendTime.coordinates(time)
        self.write(x, digits: 6, at: self.x)
        self.write(y, digits: 7, at: self.y)
        // Turns with time, as a finger would: 100.5 to 355.5 degrees.
        self.write(100 + (time >> 14) & 255, digits: 3, at: self.rotation)
    }

    /// Writes a commit's send time, its acknowledgement id, and its number in the session; nil leaves that out.
    mutating func stamp(_ time: Int64, id: Int, number: UInt64?) {
        self.stamp(time)
        self.write(Int64(id), digits: 7, at: 2)
        self.text.removeSubrange(self.fixedCount...)
        if let number { self.text += #","n":\#(number)"#.utf8 }
        self.text += "}]".utf8
    }

    private mutating func write(_ value: Int64, digits: Int, at offset: Int) {
        var rest = UInt64(clamping: value)
        for index in (offset..<offset + digits).reversed() {
            self.text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

/// A send time encoded as the two coordinates of a position, so that it travels through a server like an element's
/// position. A server may clamp positions to ±1,000,000,000, round them to whole pixels and fold a burst of previews into the
/// last one. So whole seconds go into `x`, microseconds of the second into `y`, both far inside the range and always
/// sent together. Both have a constant number of digits, so that a message keeps its length.
///
/// Senders may move in columns of their own, a million pixels apart, so that viewports tell them apart.
///
///     x = column · 1,000,000 + 100,000 + seconds since the start      y = 1,000,000 + microseconds of that second
enum SendTime {
    static let firstX: Int64 = 100_000
    static let firstY: Int64 = 1_000_000
    /// The width of a column, pixels.
    static let column: Int64 = 1_000_000
    static let columns = 1000
    /// The last time that can be encoded, microseconds: ten days.
    static let last: Int64 = (999_999 - firstX) * 1_000_000 + 999_999

    /// - Parameter time: microseconds since the start; clamped to 0 to ``last``.
    static func coordinates(_ time: Int64) -> (x: Int64, y: Int64) {
        let (seconds, rest) = max(0, min(time, self.last)).quotientAndRemainder(dividingBy: 1_000_000)
        return (self.firstX + seconds, self.firstY + rest)
    }

    /// Microseconds since the start; nil for a position that is no send time.
    static func time(x: Int64, y: Int64) -> Int64? {
        let x = x >= 0 ? x % self.column : x
        guard x >= self.firstX, y >= self.firstY, y < 2 * self.firstY else { return nil }
        return (x - self.firstX) * 1_000_000 + (y - self.firstY)
    }
}
