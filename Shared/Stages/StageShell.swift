package import Timing
internal import Wire

/// Runs a stage's core over its links and its database: one turn for all stages, in the daemon and in the simulation.
package final class StageShell<Core: StageCore, Transport: StageTransport>
where Transport.Request == Core.Request, Transport.News == Core.News {
    package var core: Core
    package let transport: Transport
    private let intake: EnvelopeIntake
    private var isDraining = false
    /// True once the stage has drained: its intake is closed.
    package private(set) var isDrained = false

    /// - Parameter intake: reads envelopes, and counts those that are malformed or come from the wrong sender.
    package init(_ core: Core, over transport: Transport, intake: EnvelopeIntake) {
        self.core = core
        self.transport = transport
        self.intake = intake
    }

    /// - Returns: when the next turn is due even if nothing comes.
    package func turn(at now: Instant) -> Instant? {
        self.transport.readDatabase(
            at: now, isWanted: { self.core.isWanted($0) }, { self.core.databaseReported($0, at: now) })
        self.transport.rest(self.core.isResting(at: now))
        self.transport.readLinks { self.core.linkChanged($0) }
        let isMore = self.transport.readPeers(envelopes: Core.envelopesPerTurn) { self.read($0, at: now) }
        if self.isDraining { self.core.drain(at: now) }
        self.core.work(at: now, time: self.transport.time) { self.transport.ask($0, at: now) }
        self.core.flush(at: now, over: self.transport)
        if self.isDraining, !isMore, !self.isDrained, self.core.isDrained {
            self.isDrained = true
            self.transport.closeIntake()
        }
        let due = [self.core.nextDeadline, self.transport.poll()].compactMap(\.self).min()
        return isMore ? now : due
    }

    /// Shutdown was requested: turns go on until ``isDrained``.
    package func drain() { self.isDraining = true }

    private func read(_ event: PeerEvent, at now: Instant) {
        switch event {
        case .up(let peer, let name): self.core.peerUp(peer, name: name)
        case .down(let peer): self.core.peerDown(peer, at: now)
        case .writable(let peer): self.core.peerWritable(peer)
        case .envelope(let peer, let roles, let bytes):
            self.intake.walk(bytes, from: roles) { kind, fields throws(EnvelopeError) in
                if try !self.core.received(kind, fields, from: peer, as: roles, at: now) {
                    self.intake.refuse(kind, from: roles)
                }
            }
        }
    }
}
