package import Mesh
package import Timing
package import Trust
package import Wire

/// What a stage decides: its core, and where its records go. It has no socket, thread, clock or database.
///
/// ``StageShell`` brings it events in this order and carries out what it wants, in the daemon and in the simulation:
///
///     database ──► links ──► peers ──► work ──► flush
package protocol StageCore {
    /// What the stage asks of its database; `Never` without one.
    associatedtype Request
    /// What it learns from it.
    associatedtype News

    /// How many envelopes of peers a turn reads at most; the rest waits for the next one.
    static var envelopesPerTurn: Int { get }

    /// When the next turn is due even if nothing comes; nil: not before something comes.
    var nextDeadline: Instant? { get }
    /// True when nothing of what has to be done before the daemon ends is left.
    var isDrained: Bool { get }

    /// The database answered, or a connection to it changed.
    mutating func databaseReported(_ news: News, at now: Instant)
    /// False for a question whose answer is not needed any more.
    func isWanted(_ tag: UInt64) -> Bool
    /// True while the stage cannot do its work: senders with a choice prefer other instances.
    mutating func isResting(at now: Instant) -> Bool

    /// Something happened on a link to an instance of the next stage.
    mutating func linkChanged(_ event: StageLinks.Event)

    /// A daemon connected.
    mutating func peerUp(_ peer: PeerID, name: String)
    /// Its connection ended.
    mutating func peerDown(_ peer: PeerID, at now: Instant)
    /// It accepts envelopes again.
    mutating func peerWritable(_ peer: PeerID)
    /// It sent a record.
    /// - Returns: false when the sender may not send it.
    mutating func received(
        _ kind: RecordKind, _ fields: ByteReader, from peer: PeerID, as roles: PeerRoles, at now: Instant
    ) throws(EnvelopeError) -> Bool

    /// Shutdown was requested. Called in every turn from then on, before ``work(at:time:ask:)``.
    mutating func drain(at now: Instant)
    /// Does what the turn's events lead to, and what is due.
    /// - Parameters:
    ///   - time: of the wall clock, ms since 1970.
    ///   - ask: sends a request to the database; false when it cannot be sent.
    mutating func work(at now: Instant, time: Double, ask: (Request) -> Bool)
    /// Sends what waits.
    mutating func flush(at now: Instant, over transport: some StageTransport)
}

extension StageCore {
    package static var envelopesPerTurn: Int { .max }
    package var isDrained: Bool { true }
    package func isWanted(_ tag: UInt64) -> Bool { true }
    package mutating func isResting(at now: Instant) -> Bool { false }
    package mutating func linkChanged(_ event: StageLinks.Event) {}
    package mutating func drain(at now: Instant) {}
}

extension StageCore where News == Never {
    package mutating func databaseReported(_ news: Never, at now: Instant) {}
}
