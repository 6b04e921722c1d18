extension Int64 {
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
