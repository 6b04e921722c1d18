public struct CommitLoad: Equatable, Sendable {
    public var commits: Int
    /// The bytes of their records' fields.
    public var bytes: Int

    public init(commits: Int = 0, bytes: Int = 0) {
        self.commits = commits
        self.bytes = bytes
    }

    /// Adds one commit of `size` bytes.
    public mutating func add(_ size: Int) {
        self.commits += 1
        self.bytes += size
    }

    public static func += (lhs: inout CommitLoad, rhs: CommitLoad) {
        lhs.commits += rhs.commits
        lhs.bytes += rhs.bytes
    }

    public static func + (lhs: CommitLoad, rhs: CommitLoad) -> CommitLoad {
        var sum = lhs
        sum += rhs
        return sum
    }
}
