/// The id of a trace: 16 bytes, not all zero (W3C Trace Context, `trace-id`).
///
/// A trace is no part of a commit's body: a repetition with another one is the same commit.
public struct TraceID: Hashable, Sendable {
    fileprivate let high: UInt64
    fileprivate let low: UInt64

    /// An id of these bytes, the first one highest; nil when all are zero.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// The id of that text: 32 lower-case hexadecimal digits, not all zero; nil for anything else.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, let high = LowerHex.value(digits[..<16]), let low = LowerHex.value(digits[16...])
        else { return nil }
        self.init(high: high, low: low)
    }
}

extension TraceID: CustomStringConvertible {
    public var description: String { LowerHex.text(self.high) + LowerHex.text(self.low) }
}

// A traced commit's record ends in its trace: 16 bytes, in the order of the text. Others end without one, so that they
// cost nothing. Fields that a later release adds follow a trace, of zeros if there is none.
extension TraceID {
    static let size = 16
}

extension FieldRun {
    /// A trace, the last field of its record.
    mutating func trace(_ trace: TraceID) {
        self.integer(trace.high.byteSwapped)
        self.integer(trace.low.byteSwapped)
    }
}

extension ByteWriter {
    /// Appends a trace, the last field of its record.
    mutating func trace(_ trace: TraceID) {
        self.integer(trace.high.byteSwapped)
        self.integer(trace.low.byteSwapped)
    }
}

extension ByteReader {
    /// Reads a trace, the last field of its record; nil when there is none.
    mutating func trace() -> TraceID? {
        guard self.remaining >= TraceID.size else { return nil }
        let high = self.integer(UInt64.self).byteSwapped
        return TraceID(high: high, low: self.integer(UInt64.self).byteSwapped)
    }
}

/// Lower-case hexadecimal digits: the only ones that a `traceparent` may have.
enum LowerHex {
    /// The value of at most 16 digits; nil when one of the bytes is none.
    static func value(_ digits: some Sequence<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }

    static func text(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
