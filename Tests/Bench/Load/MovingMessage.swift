/// A preview or commit of one sender: a text that is built once, into which the send time is written for each message.
package struct MovingMessage: Sendable {
    private var text: [UInt8]
    private let fixedCount: Int
    private let x: Int
    private let y: Int
    private let rotation: Int
    private let id: Int?

    /// - Parameters:
    ///   - room, element: plain ASCII that needs no escaping.
    ///   - isCommit: with an acknowledgement id, and a number at the end.
    ///   - column: the sender's column, from 0; see ``SendTime``.
    package init(room: String, element: String, isCommit: Bool, column: Int = 0) {
        var text: [UInt8] = Array("42".utf8)
        if isCommit {
            self.id = text.count
            text += "\(CommitLane.firstID)".utf8
        } else {
            self.id = nil
        }
        text += (isCommit ? #"["element:transform","# : #"["element:transforming","#).utf8
        text += #"{"roomId":"\#(room)","elementId":"\#(element)","transform":{"rotation":"#.utf8
        self.rotation = text.count
        text += #"100.5},"positionX":"#.utf8
        if column > 0 { text += "\(column)".utf8 }
        self.x = text.count
        text += "\(SendTime.firstX)".utf8
        text += #","positionY":"#.utf8
        self.y = text.count
        text += "\(SendTime.firstY)".utf8
        self.fixedCount = text.count
        text += "}]".utf8
        self.text = text
    }

    /// Writes a preview.
    /// - Parameter time: microseconds since the start.
    package mutating func preview(at time: Int64, _ body: (UnsafeRawBufferPointer) -> Void) {
        self.stamp(time)
        self.text.withUnsafeBytes(body)
    }

    /// Writes a commit.
    /// - Parameter number: its number in the session; nil leaves it out.
    package mutating func commit(at time: Int64, id: Int, number: UInt64?, _ body: (UnsafeRawBufferPointer) -> Void) {
        self.stamp(time)
        if let place = self.id { self.write(Int64(id), digits: 7, at: place) }
        self.text.removeSubrange(self.fixedCount...)
        if let number { self.text += #","n":\#(number)"#.utf8 }
        self.text += "}]".utf8
        self.text.withUnsafeBytes(body)
    }

    private mutating func stamp(_ time: Int64) {
        let (x, y) = SendTime.coordinates(time)
        self.write(x, digits: SendTime.xDigits, at: self.x)
        self.write(y, digits: SendTime.yDigits, at: self.y)
        // Turns with time, as a finger would: 100.5 to 355.5 degrees.
        self.write(100 + (time >> 14) & 255, digits: 3, at: self.rotation)
    }

    private mutating func write(_ value: Int64, digits: Int, at offset: Int) {
        var rest = UInt64(clamping: value)
        for index in (offset..<offset + digits).reversed() {
            self.text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
