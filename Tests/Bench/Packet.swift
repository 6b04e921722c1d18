/// A Socket.IO packet of a load, recognised by searching bytes: nothing is parsed on the way of a delivery.
enum Packet: Equatable, Sendable {
    /// Engine.IO open (`0{…}`) and ping (`2`).
    case open, ping
    /// The namespace is connected (`40`).
    case connected
    /// Engine.IO close (`1`); the namespace was refused (`44`) or left (`41`).
    case ended
    /// `43<id>[…]`; `body` is the offset of the array.
    case acknowledgement(id: Int, body: Int)
    /// A preview: its send time (nil: not from this program), and how many previews the server folded into it.
    case preview(sentAt: Int64?, folded: Int)
    case commit(sentAt: Int64?)
    /// Several previews; ``events(ofBatch:)`` has them.
    case batch
    case other

    private static let element = Needle("element:")
    private static let elements = Needle("elements")
    private static let transform = Needle("transfor")
    private static let previews = Needle("previews")
    private static let array = Needle("[\"")
    /// The last bytes of `"elementId":"e` and `"id":"e`, as which senders' own elements begin.
    private static let ownElement = Needle("d\":\"e")
    private static let positionX = Needle("itionX\":")
    private static let positionY = Needle("itionY\":")
    private static let number = Needle("\"n\":")

    init(_ text: UnsafeRawBufferPointer) {
        let isMessage = text.count > 1 && text[0] == UInt8(ascii: "4")
        self =
            switch (isMessage, text.isEmpty ? 0 : text[isMessage ? 1 : 0]) {
            case (true, UInt8(ascii: "2")): Self.event(text)
            case (true, UInt8(ascii: "3")): Self.acknowledgement(text)
            case (true, UInt8(ascii: "0")): .connected
            case (false, UInt8(ascii: "0")): .open
            case (false, UInt8(ascii: "2")): .ping
            case (_, UInt8(ascii: "1")), (true, UInt8(ascii: "4")): .ended
            default: .other
            }
    }

    /// The events of `42["previews:batch",{"events":[[…],[…]]}]`. In a text each quote has a backslash before it, so
    /// that no content looks like the begin of an event.
    static func events(ofBatch text: UnsafeRawBufferPointer) -> [Packet] {
        var begins: [Int] = []
        while let end = self.array.end(in: text, from: max(24, (begins.last ?? 0) + 4)) { begins.append(end - 2) }
        // Each with two bytes before its array, where a message of its own has `42`.
        return zip(begins, begins.dropFirst() + [text.count]).map { begin, end in
            self.event(UnsafeRawBufferPointer(rebasing: text[begin - 2..<end]))
        }
    }

    /// `42["element:transforming",{…}]` or `42["element:transformed",{…}]`, the same of a group, else another event. Of a
    /// group the time is in the position of a sender's own element.
    private static func event(_ text: UnsafeRawBufferPointer) -> Packet {
        guard text.count > 24 else { return .other }
        let isGroup = self.elements.matches(text, at: 4)
        let verb = isGroup ? 13 : 12
        guard isGroup || self.element.matches(text, at: 4), self.transform.matches(text, at: verb) else {
            return self.previews.matches(text, at: 4) ? .batch : .other
        }
        let begin = isGroup ? self.ownElement.end(in: text, from: 24) : 24
        let (sentAt, end) = begin.flatMap { self.position(in: text, from: $0) } ?? (nil, 24)
        switch text[verb + 9] {
        case UInt8(ascii: "i"):
            let folded = self.number.end(in: text, from: end).flatMap { self.integer(text, at: $0) }
            return .preview(sentAt: sentAt, folded: Int(folded ?? 1))
        case UInt8(ascii: "e"):
            return .commit(sentAt: sentAt)
        default:
            return .other
        }
    }

    /// The time in the first `positionX` and the following `positionY`, and the offset behind their keys.
    private static func position(in text: UnsafeRawBufferPointer, from begin: Int) -> (time: Int64?, end: Int)? {
        guard let first = self.positionX.end(in: text, from: begin),
            let second = self.positionY.end(in: text, from: first),
            let x = self.integer(text, at: first), let y = self.integer(text, at: second)
        else { return nil }
        return (SendTime.time(x: x, y: y), second)
    }

    private static func acknowledgement(_ text: UnsafeRawBufferPointer) -> Packet {
        guard let id = self.integer(text, at: 2), let body = text.firstIndex(of: UInt8(ascii: "[")) else {
            return .other
        }
        return .acknowledgement(id: Int(id), body: body)
    }

    /// The whole number behind spaces, its first 15 digits; nil for anything else.
    private static func integer(_ text: UnsafeRawBufferPointer, at begin: Int) -> Int64? {
        var index = begin
        while index < text.count, text[index] == UInt8(ascii: " ") { index += 1 }
        let first = index
        var value: Int64 = 0
        while index < text.count, index < first + 15, text[index] &- 0x30 < 10 {
            value = value * 10 + Int64(text[index] &- 0x30)
            index += 1
        }
        return index > first ? value : nil
    }
}

/// Up to eight bytes to look for, compared as one word of a little-endian machine.
struct Needle: Sendable {
    private let count: Int
    private let word: UInt64
    private let mask: UInt64

    init(_ text: StaticString) {
        self.count = text.utf8CodeUnitCount
        self.word = text.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        self.mask = UInt64.max >> UInt64(64 - 8 * self.count)
    }

    /// Whether a text with at least eight bytes more has it at an offset.
    func matches(_ text: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        text.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & self.mask == self.word
    }

    /// The offset behind its first occurrence at or after `begin`; nil without any.
    func end(in text: UnsafeRawBufferPointer, from begin: Int = 0) -> Int? {
        var index = begin
        while index + 8 <= text.count {
            if self.matches(text, at: index) { return index + self.count }
            index += 1
        }
        while index + self.count <= text.count {
            let rest = text[index...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            if rest & self.mask == self.word { return index + self.count }
            index += 1
        }
        return nil
    }
}
