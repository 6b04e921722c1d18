/// A message whose frames are already libzmq parts, to be sent to one peer or to many; contents over 33 bytes are
/// reference-counted by libzmq, not copied.
package struct Parcel: ~Copyable {
    // Messages usually have one frame, so only further ones need an array.
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

    /// One frame, copied during the call.
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
