import DequeModule
import Wire

/// How many joins or reads of each user are under way.
///
///     waits ──an earlier one of its user ends──► may begin ──► under way ──► ended
///
/// The answer may be a whole room, and its size is unknown until it arrives. So each user has a few under way, whatever the
/// number of its connections. Further ones wait, up to a bound, so that they do not crowd out other users'.
struct ReadsByUser {
    private struct Reader {
        var underWay = 0
        var waiting: Deque<UInt64> = []
    }

    private let bound: Int
    private let waitingBound: Int
    private var readers: [Identifier: Reader] = [:]

    /// - Parameters:
    ///   - bound: how many of one user may be under way.
    ///   - waitingBound: how many more of them may wait.
    init(bound: Int, waitingBound: Int) {
        self.bound = bound
        self.waitingBound = waitingBound
    }

    /// Makes sure that one more of the user may begin, or wait.
    func check(_ user: Identifier) throws(Refusal) {
        guard let reader = self.readers[user], reader.waiting.count >= self.waitingBound else { return }
        throw Refusal(.busy, "Too many joins or reads of this user are waiting.", retryAfterMs: GatewayLimits.busyMs)
    }

    func mayBegin(by user: Identifier) -> Bool { (self.readers[user]?.underWay ?? 0) < self.bound }

    mutating func begin(by user: Identifier) { self.readers[user, default: Reader()].underWay += 1 }

    /// A request of the user waits until ``next(by:where:)`` returns it.
    mutating func wait(_ request: UInt64, by user: Identifier) {
        self.readers[user, default: Reader()].waiting.append(request)
    }

    mutating func end(by user: Identifier) { self.readers[user]?.underWay -= 1 }

    /// Removes and returns the next request of the user that may begin and is still wanted; nil when there is none.
    mutating func next(by user: Identifier, where isWanted: (UInt64) -> Bool) -> UInt64? {
        guard self.mayBegin(by: user) else { return nil }
        while let next = self.readers[user]?.waiting.popFirst() {
            if isWanted(next) { return next }
        }
        if self.readers[user]?.underWay == 0 { self.readers[user] = nil }
        return nil
    }
}
