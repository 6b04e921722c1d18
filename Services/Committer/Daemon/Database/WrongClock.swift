/// The clocks of the database and of this machine differ too much to decide by them what is old enough to be dropped.
package struct WrongClock: Error, Equatable, CustomStringConvertible {
    /// How far the database is ahead, seconds.
    package let secondsAhead: Int64

    /// More is wrong, seconds.
    static let tolerance: Int64 = 3600

    package var description: String {
        "the database's clock is \(abs(self.secondsAhead)) s \(self.secondsAhead > 0 ? "ahead of" : "behind") this machine's"
    }
}
