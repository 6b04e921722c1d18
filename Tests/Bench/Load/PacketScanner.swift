/// Recognises the Socket.IO packets of a load and extracts a few fields by searching bytes: nothing is parsed on the
/// delivery path.
package enum PacketScanner {
    /// The kind of a text message.
    package enum Packet: Equatable, Sendable {
        /// Engine.IO open (`0{…}`).
        case open
        /// Engine.IO ping (`2`).
        case ping
        /// Engine.IO close (`1`).
        case close
        /// The namespace is connected (`40`), refused (`44`) or left (`41`).
        case connected
        case refused
        case disconnected
        /// An acknowledgement; `body` is the offset of its array.
        case acknowledgement(id: Int, body: Int)
        /// A preview: its send time (nil: not from this program), and how many previews the server folded into it.
        case preview(sentAt: Int64?, folded: Int)
        /// A commit.
        case commit(sentAt: Int64?)
        /// Several previews; ``events(ofBatch:)`` has them.
        case batch
        /// Another event.
        case event
        case unknown
    }

    private static var elementWord: UInt64 { Self.word("element:") }
    private static var elementsWord: UInt64 { Self.word("elements") }
    private static var elementIDWord: UInt64 { Self.word("elementI") }
    private static var transformWord: UInt64 { Self.word("transfor") }
    private static var positionWord: UInt64 { Self.word("position") }
    private static var batchWord: UInt64 { Self.word("previews") }

    /// Scans one text message.
    package static func scan(_ text: UnsafeRawBufferPointer) -> Packet {
        guard let type = text.first else { return .unknown }
        switch type {
        case UInt8(ascii: "4"):
            break
        case UInt8(ascii: "0"):
            return .open
        case UInt8(ascii: "1"):
            return .close
        case UInt8(ascii: "2"):
            return .ping
        default:
            return .unknown
        }
        guard text.count >= 2 else { return .unknown }
        switch text[1] {
        case UInt8(ascii: "2"):
            return Self.event(text)
        case UInt8(ascii: "3"):
            return Self.acknowledgement(text)
        case UInt8(ascii: "0"):
            return .connected
        case UInt8(ascii: "1"):
            return .disconnected
        case UInt8(ascii: "4"):
            return .refused
        default:
            return .unknown
        }
    }

    /// `42["element:transforming",{…}]` or `42["element:transformed",{…}]`, the same of a group, else another event.
    private static func event(_ text: UnsafeRawBufferPointer) -> Packet {
        guard text.count > 24, text[2] == UInt8(ascii: "[") else { return .event }
        if Self.load(text, 4) == Self.elementsWord, Self.load(text, 13) == Self.transformWord {
            return Self.group(text)
        }
        guard Self.load(text, 4) == Self.elementWord, Self.load(text, 12) == Self.transformWord else {
            return Self.load(text, 4) == Self.batchWord ? .batch : .event
        }
        switch text[21] {
        case UInt8(ascii: "i"):
            return Self.preview(text)
        case UInt8(ascii: "e"):
            return .commit(sentAt: Self.forward(text, from: 24))
        default:
            return .event
        }
    }

    /// The events of `42["previews:batch",{"events":[[…],[…]]}]`. In a text each quote has a backslash before it, so that no
    /// content looks like the begin of an event.
    package static func events(ofBatch text: UnsafeRawBufferPointer) -> [Packet] {
        let begins = (24..<max(24, text.count - 24)).filter { index in
            text[index] == UInt8(ascii: "[") && text[index + 1] == UInt8(ascii: "\"")
        }
        return begins.indices.map { index in
            let end = index + 1 < begins.count ? begins[index + 1] - 1 : text.count
            // With two bytes before its array, where a message of its own has `42`.
            return Self.event(UnsafeRawBufferPointer(rebasing: text[begins[index] - 2..<end]))
        }
    }

    /// `42["elements:transforming",{…}]` or `42["elements:transformed",{…}]`. The time is in the position of the element
    /// that is a sender's own.
    private static func group(_ text: UnsafeRawBufferPointer) -> Packet {
        let own = Self.ownElement(in: text)
        let sentAt = own.flatMap { Self.forward(text, from: $0) }
        switch text[22] {
        case UInt8(ascii: "i"): return .preview(sentAt: sentAt, folded: Self.folded(text))
        case UInt8(ascii: "e"): return .commit(sentAt: sentAt)
        default: return .event
        }
    }

    /// The offset behind `"elementId":"e` or `"id":"e`; nil when a group has no such element.
    private static func ownElement(in text: UnsafeRawBufferPointer) -> Int? {
        var index = 24
        let end = text.count - 15
        while index < end {
            if text[index] == UInt8(ascii: "\"") {
                if Self.begins(text, index + 1, with: "id\":\"e") { return index + 7 }
                if Self.load(text, index + 1) == Self.elementIDWord, Self.begins(text, index + 9, with: "d\":\"e") {
                    return index + 14
                }
            }
            index += 1
        }
        return nil
    }

    /// The number of a group's previews in one: the last `n`.
    private static func folded(_ text: UnsafeRawBufferPointer) -> Int {
        var index = text.count - 5
        while index >= 24 {
            if text[index] == UInt8(ascii: "\""), Self.begins(text, index + 1, with: "n\":") {
                return Int(clamping: Self.number(text, at: index + 3) ?? 1)
            }
            index -= 1
        }
        return 1
    }

    private static func begins(_ text: UnsafeRawBufferPointer, _ offset: Int, with words: StaticString) -> Bool {
        let words = UnsafeBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount)
        return offset + words.count <= text.count && text[offset..<offset + words.count].elementsEqual(words)
    }

    /// A preview's position is near its end, whatever wrote it: one backward scan finds all fields.
    private static func preview(_ text: UnsafeRawBufferPointer) -> Packet {
        var folded = 1
        var y: Int64?
        var index = text.count - 12
        while index >= 24 {
            // Keys only: after a quote, so that most bytes cost one comparison.
            if text[index] == UInt8(ascii: "\"") {
                if text[index + 1] == UInt8(ascii: "n"), text[index + 2] == UInt8(ascii: "\"") {
                    folded = Int(clamping: Self.number(text, at: index + 3) ?? 1)
                } else if Self.load(text, index + 1) == Self.positionWord {
                    switch text[index + 9] {
                    case UInt8(ascii: "Y"):
                        y = Self.number(text, at: index + 11)
                    case UInt8(ascii: "X"):
                        guard let y, let x = Self.number(text, at: index + 11) else {
                            return .preview(sentAt: nil, folded: folded)
                        }
                        return .preview(sentAt: SendTime.time(x: x, y: y), folded: folded)
                    default:
                        break
                    }
                }
            }
            index -= 1
        }
        return .preview(sentAt: nil, folded: folded)
    }

    /// The time in the first `positionX` and the following `positionY`.
    private static func forward(_ text: UnsafeRawBufferPointer, from begin: Int) -> Int64? {
        var x: Int64?
        var index = begin
        let end = text.count - 12
        while index < end {
            if text[index] == UInt8(ascii: "\""), Self.load(text, index + 1) == Self.positionWord {
                switch text[index + 9] {
                case UInt8(ascii: "X"):
                    x = Self.number(text, at: index + 11)
                case UInt8(ascii: "Y"):
                    guard let x, let y = Self.number(text, at: index + 11) else { return nil }
                    return SendTime.time(x: x, y: y)
                default:
                    break
                }
            }
            index += 1
        }
        return nil
    }

    /// `43<id>[…]`.
    private static func acknowledgement(_ text: UnsafeRawBufferPointer) -> Packet {
        var id = 0
        var index = 2
        while index < text.count, index < 18, text[index] &- 0x30 < 10 {
            id = id * 10 + Int(text[index] &- 0x30)
            index += 1
        }
        guard index > 2, index < text.count, text[index] == UInt8(ascii: "[") else { return .unknown }
        return .acknowledgement(id: id, body: index)
    }

    /// The integer after a key's closing quote: `:123`, spaces allowed; nil for anything else.
    private static func number(_ text: UnsafeRawBufferPointer, at begin: Int) -> Int64? {
        var index = begin
        while index < text.count, text[index] == UInt8(ascii: ":") || text[index] == UInt8(ascii: " ") { index += 1 }
        var value: Int64 = 0
        let first = index
        while index < text.count, index < first + 15, text[index] &- 0x30 < 10 {
            value = value * 10 + Int64(text[index] &- 0x30)
            index += 1
        }
        return index > first && index > begin ? value : nil
    }

    @inline(__always)
    private static func load(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    private static func word(_ text: StaticString) -> UInt64 {
        precondition(text.utf8CodeUnitCount == 8)
        return UnsafeRawPointer(text.utf8Start).loadUnaligned(as: UInt64.self)
    }
}
