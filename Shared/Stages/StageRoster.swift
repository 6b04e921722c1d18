package import Boot

/// The instances of a stage that there are at present, each under a number that no other one ever gets: whatever is
/// still on its way to an instance that was removed reaches nobody.
///
///     replace(with: a, b)     a 0, b 1      links to both are opened
///     replace(with: b, c)     b 1, c 2      the link to a is closed, one to c opened; the one to b stays as it is
///     replace(with: a, b, c)  b 1, c 2, a 3
package struct StageRoster: Sendable, Equatable {
    /// An instance.
    package struct Member: Sendable, Equatable {
        /// Its number, for as long as its name and its endpoint stay the same.
        package let number: Int
        /// Its name and endpoint.
        package let address: PeerAddress
    }

    /// What a replacement changed.
    package struct Change: Sendable, Equatable {
        /// Instances whose links are to be closed.
        package var removed: [Member] = []
        /// Instances whose links are to be opened.
        package var added: [Member] = []
        /// True when nothing changed.
        package var isEmpty: Bool { self.removed.isEmpty && self.added.isEmpty }
    }

    /// The instances, in the order of their numbers.
    package private(set) var members: [Member] = []
    private var nextNumber = 0

    /// A roster of these instances, which get the numbers from 0 on.
    package init(_ addresses: [PeerAddress] = []) {
        self.replace(with: addresses)
    }

    /// Replaces the set.
    /// - Parameter addresses: each name once.
    @discardableResult
    package mutating func replace(with addresses: [PeerAddress]) -> Change {
        let wanted = Set(addresses)
        let known = Set(self.members.map(\.address))
        var change = Change()
        change.removed = self.members.filter { !wanted.contains($0.address) }
        for address in addresses where !known.contains(address) {
            change.added.append(Member(number: self.nextNumber, address: address))
            self.nextNumber += 1
        }
        self.members = self.members.filter { wanted.contains($0.address) } + change.added
        return change
    }
}
