/// A decimal number as scanned: (negative ? −1 : 1) · mantissa · 10^exponent.
struct Decimal {
    var negative = false
    var mantissa: UInt64 = 0
    var exponent = 0
    /// False when `mantissa` was full and digits were dropped.
    var isComplete = true

    /// The nearest double (ties to even) when 64-bit arithmetic can prove it, else nil; zero is never negative.
    ///
    /// Three provable cases: an integer that fits; both factors exact in a double, so that one rounding happens
    /// (Clinger 1990); a division by up to 10^19 carried out in integers with a sticky bit.
    var double: Double? {
        guard self.isComplete else { return nil }
        if self.mantissa == 0 { return 0 }
        let magnitude: Double
        if self.mantissa <= 1 << 53, -22...22 ~= self.exponent {
            let scale = powersOfTen[Int(self.exponent.magnitude)]
            let value = Double(self.mantissa)
            magnitude = self.exponent < 0 ? value / scale : value * scale
        } else if -19...0 ~= self.exponent {
            magnitude = self.quotient()
        } else {
            return nil
        }
        return self.negative ? -magnitude : magnitude
    }

    /// mantissa / 10^−exponent for an exponent of −19…0, rounded once.
    private func quotient() -> Double {
        var divisor: UInt64 = 1
        for _ in 0..<(-self.exponent) { divisor &*= 10 }
        // Both normalised to their top bit, so that the quotient has 63 or 64 bits: far more than the 53 + 2 that
        // affect rounding. Of the lower bits only "not zero" matters: the sticky bit.
        let up = self.mantissa.leadingZeroBitCount
        let divisorUp = divisor.leadingZeroBitCount
        let dividend = self.mantissa << UInt64(up)
        let (quotient, remainder) = (divisor << UInt64(divisorUp))
            .dividingFullWidth((dividend >> 1, dividend << 63))
        let sticky = remainder == 0 ? quotient : quotient | 1
        return Double(sign: .plus, exponent: divisorUp - up - 63, significand: Double(sticky))
    }
}

/// 10^0 … 10^22, each exact in a double.
private let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]
