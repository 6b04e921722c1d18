package import Mesh
internal import Wire

/// Notifies peers of the rules in force: each when its link comes up, and all of them when the rules change. A peer whose
/// link is full is notified when it accepts messages again.
package struct RulesNotices: Sendable {
    private var fingerprint: UInt64
    private var isUp: [Bool]
    private var untold: Set<Int> = []

    /// Notices for a number of peers, none of which is up.
    /// - Parameter fingerprint: of the rules in force.
    package init(peers: Int, fingerprint: UInt64) {
        self.fingerprint = fingerprint
        self.isUp = Array(repeating: false, count: peers)
    }

    /// Other rules are in force.
    package mutating func rulesChanged(_ fingerprint: UInt64) {
        self.fingerprint = fingerprint
        self.untold = Set(self.isUp.indices.filter { self.isUp[$0] })
    }

    /// A peer's link came up.
    package mutating func linkUp(_ peer: Int) {
        self.isUp[peer] = true
        self.untold.insert(peer)
    }

    /// A peer's link went down.
    package mutating func linkDown(_ peer: Int) {
        self.isUp[peer] = false
        self.untold.remove(peer)
    }

    /// Sends what is due; call it in every turn.
    package mutating func flush(_ send: ([UInt8], Int) -> SendResult) {
        guard !self.untold.isEmpty else { return }
        var envelope = EnvelopeWriter()
        envelope.append(RulesNotice(fingerprint: self.fingerprint))
        self.untold = self.untold.filter { send(envelope.bytes, $0) == .wouldBlock }
    }
}
