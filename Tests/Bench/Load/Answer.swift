/// The content of an acknowledgement.
package enum Answer: Equatable, Sendable {
    case applied
    /// Refused with a code.
    case refused(Code)

    /// The codes of refusals that loads distinguish.
    package enum Code: String, CaseIterable, Sendable {
        case gap
        case rateLimited = "rate_limited"
        case busy, unavailable
        case sessionExpired = "session_expired"
        case conflict, other

        /// The commit's number was not used up.
        package var leavesNumber: Bool {
            switch self {
            case .gap, .rateLimited, .busy, .unavailable, .sessionExpired: true
            case .conflict, .other: false
            }
        }
    }

    /// Parses the array of an acknowledgement. Everything but a refusal counts as applied: a server that only relays
    /// may answer anything.
    package init(_ body: UnsafeRawBufferPointer) {
        guard ByteSearch.find("\"ok\":false", in: body) != nil, let key = ByteSearch.find("\"code\":\"", in: body)
        else {
            self = .applied
            return
        }
        let begin = key + 8
        let end = body[begin...].firstIndex(of: UInt8(ascii: "\"")) ?? body.endIndex
        let text = String(decoding: body[begin..<end], as: UTF8.self)
        self = .refused(Code(rawValue: text) ?? .other)
    }
}

/// Searches text in bytes, outside the delivery path.
enum ByteSearch {
    /// The offset of `needle`.
    static func find(_ needle: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
        let count = needle.utf8CodeUnitCount
        guard count > 0, bytes.count >= count else { return nil }
        let text = UnsafeBufferPointer(start: needle.utf8Start, count: count)
        return (0...bytes.count - count).first { begin in
            bytes[begin] == text[0] && bytes[begin..<begin + count].elementsEqual(text)
        }
    }
}
