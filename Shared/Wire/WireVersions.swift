/// The wire versions of this build. Every link greets with them.
///
/// A release may add kinds of records, and fields at the end of a record, without a new version: readers skip what they
/// do not know. A change of meaning takes two releases. The first one reads the new version beside the old one, so it
/// speaks two, and gives its ``EnvelopeWriter``s the version that a link has in common with its peer. The second one, when
/// nothing older runs any more, drops the old version.
public enum WireVersions {
    /// The versions that this build reads, and writes to those who speak them.
    public static let spoken: ClosedRange<UInt8> = 3...3

    /// For people: `3`, or `3 to 4`.
    public static var text: String {
        let (oldest, newest) = (self.spoken.lowerBound, self.spoken.upperBound)
        return oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)"
    }
}
