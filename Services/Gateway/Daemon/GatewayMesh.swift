import Boot
import GatewayCore
import Mesh
import Stages
import Timing

/// The links to all coalescers, committers and fan-outs. It decides nothing: events go to the hub as they come, envelopes to
/// the instance that the hub names.
final class GatewayMesh: ReactorLoop {
    private let thread: ReactorThread
    private var figures = FigurePace()
    private let coalescers, committers, fanouts: StageLinks
    private let telemetry: GatewayTelemetry
    /// Hears of each event of a link.
    private let act: (StageLinks.Event, Stage) -> Void

    init(
        on thread: ReactorThread, name: String, settings: GatewaySettings, sets: StageSets, telemetry: GatewayTelemetry,
        act: @escaping (StageLinks.Event, Stage) -> Void
    ) throws {
        self.thread = thread
        self.telemetry = telemetry
        self.act = act
        let identity = LinkIdentity(daemon: name)
        self.coalescers = try StageLinks(
            on: thread, to: sets[.coalescer], identity: identity, options: .outgoing())
        self.committers = try StageLinks(on: thread, to: sets[.committer], identity: identity, options: .answering())
        self.fanouts = try StageLinks(on: thread, to: sets[.fanout], identity: identity, options: .answering())
    }

    func turn(at now: Instant) -> Instant? {
        for links in [self.coalescers, self.committers, self.fanouts] { links.read { self.act($0, links.stage) } }
        if self.figures.isDue(at: now) {
            self.telemetry.links.publish(self.thread)
            let links = [self.coalescers, self.committers, self.fanouts]
            self.telemetry.links.reconnected(links.reduce(0) { $0 &+ $1.reconnects })
        }
        return nil
    }

    /// Sends an envelope to an instance.
    func send(_ envelope: [UInt8], to instance: StageInstance) -> SendResult {
        switch instance.stage {
        case .coalescer: self.coalescers.send(envelope, to: instance.number)
        case .committer: self.committers.send(envelope, to: instance.number)
        case .fanout: self.fanouts.send(envelope, to: instance.number)
        case .gateway: .unroutable
        }
    }
}
