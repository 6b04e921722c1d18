package import Mesh

/// The rules of the committers that are linked, compared with those of this fan-out.
///
/// Apps would see previews that no commit can confirm if they differed for long. Fan-outs compare because every committer
/// is linked to every fan-out: if any two daemons differ, some fan-out finds a committer that differs from it.
package struct CommitterRules: Sendable {
    private struct Committer {
        let name: String
        var fingerprint: UInt64
    }

    private var own: UInt64
    private var committers: [PeerID: Committer] = [:]
    private var reported: [String] = []

    /// - Parameter own: the fingerprint of this fan-out's rules.
    package init(own: UInt64) { self.own = own }

    /// This fan-out has other rules.
    package mutating func rulesChanged(_ fingerprint: UInt64) { self.own = fingerprint }

    /// A committer said which rules it has. One of a release before these notices never does, and is not compared.
    package mutating func notified(_ fingerprint: UInt64, by peer: PeerID, named name: String) {
        self.committers[peer] = Committer(name: name, fingerprint: fingerprint)
    }

    /// A peer is gone.
    package mutating func linkDown(to peer: PeerID) { self.committers[peer] = nil }

    /// The names of those that differ, sorted.
    private var differing: [String] {
        self.committers.values.filter { $0.fingerprint != self.own }.map(\.name).sorted()
    }

    /// True when others differ than at the last ``drainNews()``.
    package var hasNews: Bool { self.differing != self.reported }

    /// The names of those that differ now, sorted.
    package mutating func drainNews() -> [String] {
        self.reported = self.differing
        return self.reported
    }
}
