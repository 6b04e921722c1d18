package import Mesh
internal import Wire

/// Notifies peers of the rules in force: each when its link comes up, and all of them when the rules change. A peer whose
/// link is full is notified when it accepts messages again.
package struct RulesNotices: Sendable {
    private var fingerprint: UInt64
    private var up: Set<Int> = []
    private var untold: Set<Int> = []

    /// Notices for peers, none of which is up.
    /// - Parameter fingerprint: of the rules in force.
    package init(fingerprint: UInt64) {
        self.fingerprint = fingerprint
    }

    package mutating func rulesChanged(_ fingerprint: UInt64) {
        self.fingerprint = fingerprint
        self.untold = self.up
    }

    package mutating func linkUp(_ peer: Int) {
        self.up.insert(peer)
        self.untold.insert(peer)
    }

    package mutating func linkDown(_ peer: Int) {
        self.up.remove(peer)
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
