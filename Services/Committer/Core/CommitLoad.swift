/// Some commits, in number and bytes.
package struct CommitLoad: Equatable, Sendable {
    /// How many.
    package var commits = 0
    /// Their bytes.
    package var bytes = 0

    /// None.
    package init() {}

    /// Adds one of so many bytes.
    mutating func add(_ size: Int) {
        self.commits += 1
        self.bytes += size
    }

    static func + (lhs: CommitLoad, rhs: CommitLoad) -> CommitLoad {
        var sum = lhs
        sum.commits += rhs.commits
        sum.bytes += rhs.bytes
        return sum
    }
}
