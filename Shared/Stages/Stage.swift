package import Trust

/// The stages of the pipeline.
package enum Stage: String, Sendable, CaseIterable {
    case gateway, coalescer, committer, fanout

    /// The role in which its instances prove who they are.
    package var role: PeerRole {
        switch self {
        case .gateway: .gateway
        case .coalescer: .coalescer
        case .committer: .committer
        case .fanout: .fanout
        }
    }
}

package struct StageInstance: Hashable, Sendable {
    package let stage: Stage
    /// Its number in the stage's ``StageSet``.
    package let number: Int

    package init(_ stage: Stage, _ number: Int) {
        self.stage = stage
        self.number = number
    }
}
