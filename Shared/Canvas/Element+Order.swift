extension Element {
    /// Whether this element lies below another one of its room. Everybody sees the same order: by `zIndex`, which is 0
    /// when absent, then by id, compared by UTF-16 code units as JavaScript does.
    public func isBelow(_ other: Element) -> Bool {
        if self.level != other.level { return self.level < other.level }
        return self.id.utf16.lexicographicallyPrecedes(other.id.utf16)
    }

    /// Its `zIndex`, 0 when absent.
    package var level: Double { self.zIndex ?? 0 }
}
