import Wire

/// Ends of gestures whose elements were changed by updates that have not come yet, the latest ones.
///
/// The end of a gesture shows a 1.0 app its element as it is. Shown before the updates that made it so, those would turn
/// it back for a moment.
struct HeldEnds {
    /// The maximum number: a hole is filled within moments, and an end that is forgotten is made up for by the next
    /// update of its element.
    static let limit = 64
    private var ends: [GestureEnded] = []

    var isEmpty: Bool { self.ends.isEmpty }

    mutating func append(_ ended: GestureEnded) {
        if self.ends.count == Self.limit { self.ends.removeFirst() }
        self.ends.append(ended)
    }

    /// Takes out those that show nothing newer than the update of a number, in their order.
    mutating func take(upTo seq: UInt64) -> [GestureEnded] {
        defer { self.ends.removeAll { $0.seq <= seq } }
        return self.ends.filter { $0.seq <= seq }
    }
}
