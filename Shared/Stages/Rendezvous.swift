internal import Wire

/// Assigns shards to live peers: the owner of a shard is the peer with the highest weight for it (rendezvous hashing).
///
/// Peers that see the same names compute the same owners, without communication. When a name is added or removed, only
/// the shards that it gains or loses move. Weights depend on bytes alone, so they agree across hosts and releases.
package struct Rendezvous: Sendable, Equatable {
    /// The names, sorted, each once.
    package let names: [String]
    package let shards: Int
    private let owners: [Int]

    /// - Parameter shards: shards are numbered from 0.
    package init(names: [String], shards: Int = 64) {
        // Sorted by bytes, so that a tie (practically impossible) is broken the same way everywhere.
        var sorted: [String] = []
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        where sorted.last.map({ !$0.utf8.elementsEqual(name.utf8) }) ?? true {
            sorted.append(name)
        }
        let hashes = sorted.map { FNV1a.hash($0.utf8) }
        self.names = sorted
        self.shards = max(0, shards)
        self.owners = (0..<max(0, shards)).map { shard in
            hashes.indices.max { Rendezvous.weight(hashes[$0], shard) < Rendezvous.weight(hashes[$1], shard) } ?? -1
        }
    }

    /// Over the peers that are up: those that do not rest, or all of them while all rest.
    package init(up: some Sequence<String>, resting: Set<String>, shards: Int = 64) {
        let up = Array(up)
        let serving = up.filter { !resting.contains($0) }
        self.init(names: serving.isEmpty ? up : serving, shards: shards)
    }

    /// The owner; nil when there are no names or no such shard.
    package func owner(of shard: Int) -> String? {
        guard self.owners.indices.contains(shard), self.owners[shard] >= 0 else { return nil }
        return self.names[self.owners[shard]]
    }

    // Mixed, because FNV alone leaves similar names with similar weights.
    private static func weight(_ name: UInt64, _ shard: Int) -> UInt64 {
        splitMix(name ^ (UInt64(truncatingIfNeeded: shard) &+ 1) &* 0x9e37_79b9_7f4a_7c15)
    }
}
