extension JSONWriter {
    public mutating func value(_ integer: Int) { self.value(Int64(integer)) }

    public mutating func value(_ integer: Int64) {
        self.separate()
        if integer < 0 { self.bytes.append(UInt8(ascii: "-")) }
        self.appendDigits(integer.magnitude)
        self.needsComma = true
    }

    public mutating func value(_ integer: UInt64) {
        self.separate()
        self.appendDigits(integer)
        self.needsComma = true
    }

    /// Writes the shortest text that reads back as the same double. Whole numbers have no fraction, −0 is 0, and values
    /// that are not finite are written as null.
    public mutating func value(_ number: Double) {
        // Up to 2^53 a double's whole numbers are exactly the integers.
        if number.magnitude <= 9_007_199_254_740_992 {
            let whole = Int64(number)
            if Double(whole) == number { return self.value(whole) }
        }
        guard number.isFinite else { return self.null() }
        self.separate()
        withUTF8(number.description) { text in
            // Never "….0": the remaining whole numbers are above 2^53 and have an exponent ("1e+16"), as in JSON.
            self.bytes.append(contentsOf: text)
        }
        self.needsComma = true
    }

    private mutating func appendDigits(_ number: UInt64) {
        if number < 10 { return self.bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        self.bytes.append(addingCapacity: digits) { output in
            output.withUnsafeMutableBufferPointer { buffer, count in
                count += digits
                var rest = number
                for index in stride(from: count - 1, through: count - digits, by: -1) {
                    let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                    buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
                    rest = quotient
                }
            }
        }
    }
}
