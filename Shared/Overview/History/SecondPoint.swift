/// One round of one instance: about 600 bytes, of which the histograms take half.
struct SecondPoint: Sendable {
    /// Milliseconds since 1970.
    let at: UInt64
    let condition: InstanceCondition
    /// Rates and values; all unknown in a round without an answer.
    let figures: FigureSet
    /// Dropped records per second, by index of the instance's kinds; only those that grew.
    let drops: [(kind: Int, rate: Float)]
    /// What was observed since the round before, where anything was: counts by bucket.
    let observed: [Distribution: [UInt32]]
}
