public import Canvas

extension Preview {
    /// Folds a newer preview of the same room, element and connection into this one.
    ///
    /// Fields of one gesture merge, the latest value of each wins. A newer gesture or another session replaces the
    /// fields; a preview of an older gesture adds none. Counts and times always add up: `folded` is the number of the
    /// app's previews that were folded into it, including those whose fields were dropped, and `sinceLast` the time
    /// since the preview before the first of them. The area is that of both: who saw the older one must see it go.
    /// - Returns: True when fields merged, false when those of one preview were dropped.
    @discardableResult
    @inlinable
    public mutating func fold(_ newer: Preview) -> Bool {
        let (folded, isOver) = self.folded.addingReportingOverflow(newer.folded)
        let sinceLast = self.sinceLast &+ newer.sinceLast
        let area = self.area.union(newer.area)
        let isSameSession = self.sid == newer.sid
        let isSameGesture = isSameSession && self.gesture == newer.gesture
        if isSameGesture {
            if newer.delta == nil, self.delta == nil {
                self.fields.merge(newer.fields)
            } else {
                var delta = self.delta
                PreviewDelta.fold((newer.fields, newer.delta), onto: &self.fields, &delta)
                self.delta = delta
            }
            self.group = newer.group
            self.after = max(self.after, newer.after)
        } else if !isSameSession || self.gesture < newer.gesture {
            self = newer
        }
        self.folded = isOver ? .max : folded
        self.sinceLast = sinceLast
        self.area = area
        return isSameGesture
    }
}
