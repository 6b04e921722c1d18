extension JSONScanner {
    /// Scans the number at the position (RFC 8259 section 6) and appends it with its value.
    mutating func number() throws(JSONError) {
        let start = self.position
        var decimal = Decimal()
        if self.byte(self.position) == UInt8(ascii: "-") {
            decimal.negative = true
            self.position += 1
        }
        let leadingZero = self.byte(self.position) == UInt8(ascii: "0")
        let integerDigits = self.digits(into: &decimal)
        guard integerDigits > 0 else { throw self.failure(.invalidNumber) }
        if leadingZero, integerDigits > 1 { throw JSONError(reason: .invalidNumber, offset: start) }
        var isInteger = true
        if self.byte(self.position) == UInt8(ascii: ".") {
            isInteger = false
            self.position += 1
            let fraction = self.digits(into: &decimal)
            guard fraction > 0 else { throw self.failure(.invalidNumber) }
            decimal.exponent -= fraction
        }
        if self.byte(self.position) | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            decimal.exponent += try self.exponent()
        }
        guard self.position - start <= self.limits.numberLength else {
            throw JSONError(reason: .numberTooLong, offset: start)
        }
        let value = decimal.double ?? self.slowDouble(from: start)
        guard value.isFinite else { throw JSONError(reason: .numberNotFinite, offset: start) }
        self.append(.number, from: start, flag: isInteger, payload: (value == 0 ? 0 : value).bitPattern)
    }

    /// Steps over digits, shifting them into the mantissa while it has room. How many there were.
    @inline(__always)
    private mutating func digits(into decimal: inout Decimal) -> Int {
        let start = self.position
        while true {
            let digit = self.byte(self.position) &- UInt8(ascii: "0")
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

    /// Steps over `e`, a sign and digits. Beyond ±9999 the value stays there: no double reaches so far.
    private mutating func exponent() throws(JSONError) -> Int {
        self.position += 1
        let sign = self.byte(self.position)
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { self.position += 1 }
        let start = self.position
        var value = 0
        while true {
            let digit = self.byte(self.position) &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if value < 1000 { value = value * 10 + Int(digit) }
            self.position += 1
        }
        guard self.position > start else { throw self.failure(.invalidNumber) }
        return sign == UInt8(ascii: "-") ? -value : value
    }

    /// The standard library's conversion, for what 64-bit arithmetic can not decide.
    private func slowDouble(from start: Int) -> Double {
        let text = UnsafeRawBufferPointer(start: self.text + start, count: self.position - start)
        return Double(String(decoding: text, as: UTF8.self)) ?? .nan
    }
}
