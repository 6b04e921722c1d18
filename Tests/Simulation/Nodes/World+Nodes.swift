import Mesh
import Stages
import Trust
import Wire

extension World {
    /// The links that a daemon dials to a stage, in the order of its instances.
    func links(of process: Process, to stage: Stage) -> [Link] {
        self.links.filter { $0.dialler === process && $0.server.stage == stage }.sorted { $0.index < $1.index }
    }

    /// Walks over an envelope.
    func walk(_ bytes: [UInt8], _ body: (RecordKind, ByteReader) throws(EnvelopeError) -> Void) {
        bytes.withUnsafeBytes { self.intake.walk($0, from: .all, body) }
    }

    /// How much may wait for one peer whose link is full.
    func outboxLimits(_ usual: OutboxLimits) -> OutboxLimits {
        self.plan.fullLinks > 0 ? OutboxLimits(bytes: 300, keys: 8) : usual
    }

    /// What a daemon that accepts commits allows each sender: plenty, or in every other world hardly anything.
    func window() -> CommitCredit {
        self.plan.seed % 4 < 2 ? CommitCredit(commits: 4096, bytes: 8 << 20) : CommitCredit(commits: 2, bytes: 2000)
    }
}
