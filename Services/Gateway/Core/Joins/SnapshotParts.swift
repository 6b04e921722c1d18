internal import JSONBytes
package import Wire

/// A large room on its way to one app: the answer to its join, and the parts that follow it.
package struct Snapshot: Equatable, Sendable {
    package let room: Identifier
    /// The acknowledgement that the app asked for.
    package let ackID: UInt64
    /// The JSON array of the acknowledgement's only argument.
    package let arguments: [UInt8]
    /// Events that follow it, in order: `room:elements`. Empty when the answer has all elements itself.
    package let parts: SnapshotParts
}

/// A large room's elements as `room:elements` events, in order. Each is written when it is asked for: until an app reads
/// it, a part is a place in the one text that all share.
package struct SnapshotParts: RandomAccessCollection, Equatable, Sendable {
    private let room: Identifier
    private let elements: [UInt8]
    /// Where in it each part's elements are, with the commas between them.
    private let places: [Range<Int>]

    /// Divides a room between its elements.
    /// - Parameters:
    ///   - elements: the JSON array of all of them; empty when the answer to the join has them itself.
    ///   - limit: the most bytes of a part's elements as an array, unless one element is longer.
    init(of elements: [UInt8] = [], in room: Identifier, limit: Int = 0) {
        self.room = room
        self.elements = elements
        self.places = elements.withUnsafeBytes { Self.places(in: $0, limit: limit) }
    }

    package var bytes: Int { self.elements.count }

    package var startIndex: Int { 0 }
    package var endIndex: Int { self.places.count }

    package subscript(index: Int) -> [UInt8] {
        EventText.elements(self.elements[self.places[index]], part: index + 1, of: self.count, room: self.room)
    }

    private static func places(in text: UnsafeRawBufferPointer, limit: Int) -> [Range<Int>] {
        var places: [Range<Int>] = []
        // The first byte of the part, and the end of its last whole element.
        var (start, end) = (1, 1)
        var (depth, index) = (0, 1)
        while index < text.count - 1 {
            switch text[index] {
            case UInt8(ascii: "\""): index = JSONText.endOfString(in: text, from: index + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth == 0 else { break }
                if index + 3 - start > limit, end > start {
                    places.append(start..<end)
                    start = end + 1
                }
                end = index + 1
            default: break
            }
            index += 1
        }
        if end > start { places.append(start..<end) }
        return places
    }
}
