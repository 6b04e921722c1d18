extension JSONLexer {
    struct Number {
        /// Its nearest double; zero is never negative.
        var value: Double
        /// Whether it has neither a fraction nor an exponent.
        var isInteger: Bool
    }

    /// Reads the number at the position (RFC 8259 section 6) and moves past it.
    @inline(__always)
    mutating func number() throws(JSONError) -> Number {
        let start = self.position
        var decimal = Decimal()
        if self.byte == UInt8(ascii: "-") {
            decimal.negative = true
            self.position += 1
        }
        let leadingZero = self.byte == UInt8(ascii: "0")
        let integerDigits = self.digits(into: &decimal)
        guard integerDigits > 0 else { throw self.failure(.invalidNumber) }
        if leadingZero, integerDigits > 1 { throw JSONError(reason: .invalidNumber, offset: start) }
        var isInteger = true
        if self.byte == UInt8(ascii: ".") {
            isInteger = false
            self.position += 1
            let fraction = self.digits(into: &decimal)
            guard fraction > 0 else { throw self.failure(.invalidNumber) }
            decimal.exponent -= fraction
        }
        if self.byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            decimal.exponent += try self.exponent()
        }
        guard self.position - start <= self.numberLength else { return try self.oversized(.numberTooLong, from: start) }
        let value = decimal.double ?? self.slowDouble(from: start)
        guard value.isFinite else { return try self.oversized(.numberNotFinite, from: start) }
        return Number(value: value == 0 ? 0 : value, isInteger: isInteger)
    }

    /// A number that is longer or larger than a reader has to take. Not inlined: it is rare.
    @inline(never)
    private func oversized(_ reason: JSONError.Reason, from start: Int) throws(JSONError) -> Number {
        guard self.allowsFaults else { throw JSONError(reason: reason, offset: start) }
        return Number(value: .greatestFiniteMagnitude, isInteger: false)
    }

    /// Skips digits, shifting them into the mantissa while it has room. Returns their number.
    @inline(__always)
    private mutating func digits(into decimal: inout Decimal) -> Int {
        let start = self.position
        // (2^64 − 10^8) / 10^8: eight more digits can not overflow.
        while decimal.mantissa <= 184_467_440_736, let eight = Self.eightDigits(self.word(self.position)) {
            decimal.mantissa = decimal.mantissa &* 100_000_000 &+ eight
            self.position += 8
        }
        while true {
            let digit = self.byte &- UInt8(ascii: "0")
            guard digit < 10 else { return self.position - start }
            // (2^64 − 10) / 10: one more digit can not overflow.
            if decimal.mantissa <= 1_844_674_407_370_955_160 {
                decimal.mantissa = decimal.mantissa &* 10 &+ UInt64(digit)
            } else {
                decimal.isComplete = false
            }
            self.position += 1
        }
    }

    /// The number that eight bytes spell; nil unless all are digits. Neighbours are combined to pairs, fours and eight.
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64? {
        // A digit has the upper nibble 3, and still has it after adding 6.
        let upper: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        guard word & upper == 0x3030_3030_3030_3030,
            (word &+ 0x0606_0606_0606_0606) & upper == 0x3030_3030_3030_3030
        else { return nil }
        let digits = word & 0x0F0F_0F0F_0F0F_0F0F
        let pairs = (digits &* 10 &+ digits >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF
    }

    /// Skips `e`, a sign and digits. Clamped to ±9999, which is beyond any double.
    private mutating func exponent() throws(JSONError) -> Int {
        self.position += 1
        let sign = self.byte
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { self.position += 1 }
        let start = self.position
        var value = 0
        while true {
            let digit = self.byte &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if value < 1000 { value = value * 10 + Int(digit) }
            self.position += 1
        }
        guard self.position > start else { throw self.failure(.invalidNumber) }
        return sign == UInt8(ascii: "-") ? -value : value
    }

    /// The standard library's conversion, where 64-bit arithmetic is not exact.
    private func slowDouble(from start: Int) -> Double {
        let text = UnsafeRawBufferPointer(start: self.text + start, count: self.position - start)
        return Double(String(decoding: text, as: UTF8.self)) ?? .nan
    }
}
