/// A send time encoded as the two coordinates of a position, so that it travels through a server like an element's
/// position.
///
/// A server may clamp positions to ±1,000,000,000, round them to whole pixels and fold a burst of previews into the
/// last one. So whole seconds go into `x`, microseconds of the second into `y`, both far inside the range and always
/// sent together. Both have a constant number of digits, so that a message keeps its length.
///
/// Senders may move in columns of their own, a million pixels apart, so that viewports tell them apart.
///
///     x = column · 1,000,000 + 100,000 + seconds since the start      y = 1,000,000 + microseconds of that second
package enum SendTime {
    /// `x` of the first second; six digits.
    static let firstX: Int64 = 100_000
    /// `y` of a whole second; seven digits.
    static let firstY: Int64 = 1_000_000
    /// The width of a column, pixels, and the number of columns.
    package static let column: Int64 = 1_000_000
    package static let columns = 1000
    /// Digits of `x` within its column, and of `y`.
    static let xDigits = 6
    static let yDigits = 7
    /// The last time that can be encoded, microseconds: ten days.
    package static let last: Int64 = (999_999 - firstX) * 1_000_000 + 999_999

    /// The coordinates of a time.
    /// - Parameter time: microseconds since the start; clamped to 0 to ``last``.
    package static func coordinates(_ time: Int64) -> (x: Int64, y: Int64) {
        let (seconds, rest) = max(0, min(time, self.last)).quotientAndRemainder(dividingBy: 1_000_000)
        return (self.firstX + seconds, self.firstY + rest)
    }

    /// The time encoded in two coordinates, microseconds since the start; nil for a position that is no send time.
    package static func time(x: Int64, y: Int64) -> Int64? {
        let x = x >= 0 ? x % self.column : x
        guard x >= self.firstX, y >= self.firstY, y < 2 * self.firstY else { return nil }
        return (x - self.firstX) * 1_000_000 + (y - self.firstY)
    }
}
