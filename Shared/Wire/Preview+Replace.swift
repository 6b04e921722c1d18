extension Preview {
    /// Takes the place of an older preview of the same room, element and connection, as each is complete for its gesture. One
    /// of an older gesture of the session is late and shows nothing.
    ///
    /// Counts and times add up all the same: `folded` is the number of the app's previews of which none was shown but the
    /// last, and `sinceLast` the time since the preview before the first of them. The area is that of both: who saw the
    /// older one must see it go. What the older one of the gesture had to follow, the newer one has to follow too.
    /// - Returns: true when both are of one gesture, so that nothing is lost.
    @discardableResult
    @inlinable
    public mutating func replace(by newer: Preview) -> Bool {
        let (folded, isOver) = self.folded.addingReportingOverflow(newer.folded)
        let sinceLast = self.sinceLast &+ newer.sinceLast
        let area = self.area.union(newer.area)
        let isSameSession = self.sid == newer.sid
        let isSameGesture = isSameSession && self.gesture == newer.gesture
        let after = isSameGesture ? max(self.after, newer.after) : newer.after
        if !isSameSession || self.gesture <= newer.gesture {
            self = newer
            self.after = after
        }
        self.folded = isOver ? .max : folded
        self.sinceLast = sinceLast
        self.area = area
        return isSameGesture
    }
}
