/// A message to be sent, with its frames already in libzmq's hands: send it to one peer or to many; contents over 33 bytes are
/// counted by libzmq, not copied.
package struct Parcel: ~Copyable {
    // One frame is the rule, so only the others need an array.
    let first: Message
    let rest: [Box]

    final class Box {
        let message: Message
        init(_ message: consuming Message) { self.message = message }
    }

    /// One frame.
    package init(_ frame: [UInt8]) {
        self.first = Message(frame)
        self.rest = []
    }

    /// One frame, lent for the duration of the call.
    package init(copying frame: UnsafeRawBufferPointer) {
        self.first = Message(copying: frame)
        self.rest = []
    }

    /// Several frames; none at all becomes one empty frame.
    package init(_ frames: [[UInt8]]) {
        self.first = Message(frames.first ?? [])
        self.rest = frames.dropFirst().map { Box(Message($0)) }
    }

    /// The number of frames, at least one.
    package var count: Int { 1 + self.rest.count }
}

extension Parcel {
    /// The length of all frames in bytes.
    package var byteCount: Int { self.rest.reduce(self.first.byteCount) { $0 + $1.message.byteCount } }

    /// Sends all frames as the (rest of a) message.
    borrowing func send(on socket: borrowing Socket) -> SendResult {
        var result = socket.send(self.first, more: !self.rest.isEmpty)
        for index in self.rest.indices where result == .sent {
            result = socket.send(self.rest[index].message, more: index + 1 < self.rest.count)
        }
        return result
    }
}
