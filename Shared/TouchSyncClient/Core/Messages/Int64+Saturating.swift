extension Int64 {
    /// The whole part of a number, or the nearest one that there is.
    init(saturating number: Double) {
        self = number < 9e18 ? Int64(Swift.max(number, -9e18)) : .max
    }

    /// The sum, or the largest number: what comes from outside must not end the process.
    func plus(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = self.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

/// The earliest of some deadlines, ms; nil when there is none.
func earliest(_ deadlines: Int64?...) -> Int64? {
    deadlines.compactMap(\.self).min()
}
