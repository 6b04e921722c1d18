/// An incremental UTF-8 validator after RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF.
///
/// Text may arrive in any number of pieces; the first byte that cannot continue valid UTF-8 is rejected immediately.
public struct UTF8Validator: Sendable {
    /// Outstanding continuation bytes of the current scalar.
    private var due: UInt8 = 0
    /// Bounds of the next continuation byte (narrower than 80...BF after E0, ED, F0 and F4).
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    public init() {}

    /// Whether the bytes so far end at a scalar boundary.
    public var isComplete: Bool { self.due == 0 }

    /// Validates the next piece; `false` means that the text can no longer become valid.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if self.due == 0 {
                index = Self.skipASCII(bytes, from: index)
                if index == count { return true }
                guard self.begin(bytes[index]) else { return false }
            } else {
                let byte = bytes[index]
                guard byte >= self.lower, byte <= self.upper else { return false }
                self.lower = 0x80
                self.upper = 0xBF
                self.due -= 1
            }
            index += 1
        }
        return true
    }

    /// Whether `bytes` is valid UTF-8 as a whole.
    public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = UTF8Validator()
        return validator.feed(bytes) && validator.isComplete
    }

    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: self.due = 1
        case 0xE0:
            self.due = 2
            self.lower = 0xA0
        case 0xE1...0xEC, 0xEE...0xEF: self.due = 2
        case 0xED:
            self.due = 2
            self.upper = 0x9F
        case 0xF0:
            self.due = 3
            self.lower = 0x90
        case 0xF1...0xF3: self.due = 3
        case 0xF4:
            self.due = 3
            self.upper = 0x8F
        default: return false
        }
        return true
    }
}
