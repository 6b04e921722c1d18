/// What a daemon keeps for each of its peers, in the order of the peers.
///
/// A value is changed where it stands. A daemon has few peers, and new ones usually come last: a search is cheaper than a
/// hash, and the order is the same in every process. Public, so that it is specialized and inlined in other modules.
public struct PeerTable<Peer: Comparable, Value> {
    /// The peers that have a value, ascending.
    public var peers: [Peer] { self.keys }
    @usableFromInline var keys: [Peer] = []
    /// Theirs; nil only while one is added or removed.
    @usableFromInline var values: [Value?] = []

    /// An empty table.
    @inlinable
    public init() {}

    /// The position of a peer, or the one where it belongs.
    @inlinable
    func position(of peer: Peer) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, self.keys.count)
        while low < high {
            let middle = (low + high) / 2
            if self.keys[middle] < peer { low = middle + 1 } else { high = middle }
        }
        return (low, low < self.keys.count && self.keys[low] == peer)
    }

    /// The position of a peer; nil when it has no value.
    @inlinable
    func index(of peer: Peer) -> Int? {
        let (index, isThere) = self.position(of: peer)
        return isThere ? index : nil
    }

    /// The value of a peer; nil when there is none. Setting nil removes it.
    @inlinable
    public subscript(peer: Peer) -> Value? {
        get {
            let (index, isThere) = self.position(of: peer)
            return isThere ? self.values[index] : nil
        }
        _modify {
            let (index, isThere) = self.position(of: peer)
            if !isThere {
                self.keys.insert(peer, at: index)
                self.values.insert(nil, at: index)
            }
            defer {
                if self.values[index] == nil {
                    self.keys.remove(at: index)
                    self.values.remove(at: index)
                }
            }
            yield &self.values[index]
        }
    }

    /// True when the peer has a value.
    @inlinable
    public func contains(_ peer: Peer) -> Bool { self.position(of: peer).isThere }

    /// All values, in the order of the peers.
    public var all: some Sequence<Value> { self.values.lazy.compactMap(\.self) }
}

extension PeerTable: Sendable where Peer: Sendable, Value: Sendable {}
