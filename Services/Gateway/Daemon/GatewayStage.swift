package import GatewayCore
package import Stages
package import Timing
package import Wire

/// The gateway's core between its apps and the stages behind: what stages send goes into the core, and what the core wants
/// sent to them leaves over the routes. The rest is for the apps' side.
///
/// A class, since its owner hands out the core and its actions at the same time.
package final class GatewayStage {
    /// Decides.
    package var core: Gateway
    /// What it wants done.
    package var actions = ActionBuffer<GatewayAction>()
    /// Where its records go.
    package var routes: MeshRoutes
    /// True while actions are performed: what leads to more meanwhile must come after them.
    package private(set) var isPerforming = false
    private var arrivals = MeshArrivals()
    private let intake: EnvelopeIntake
    private let trace: (TraceMark) -> Void

    /// - Parameters:
    ///   - intake: reads envelopes, and counts those that are malformed or come from the wrong sender.
    ///   - trace: logs a step of a traced commit.
    package init(
        _ core: Gateway, routes: MeshRoutes, intake: EnvelopeIntake, trace: @escaping (TraceMark) -> Void = { _ in }
    ) {
        self.core = core
        self.routes = routes
        self.intake = intake
        self.trace = trace
    }

    // MARK: In

    /// How long what arrives in this turn has waited for it.
    package var lateness: Nanoseconds {
        get { self.arrivals.lateness }
        set { self.arrivals.lateness = newValue }
    }

    /// Something happened on a link.
    /// - Parameters:
    ///   - seconds: since 1970, for tokens only.
    ///   - perform: the apps' side of ``perform(_:)``.
    package func linkChanged(
        _ event: StageLinks.Event, of stage: Stage, at now: Instant, seconds: Double,
        _ perform: (GatewayAction) -> GatewayAction?
    ) {
        switch event {
        case .envelope(let instance, let bytes):
            self.arrivals.receive(
                bytes, from: StageInstance(stage, instance), self.routes.fanouts.owners, self.intake, at: now,
                seconds: seconds, to: &self.core, into: &self.actions.pending
            ) { self.routes.allow($0, of: instance) }
        case .added, .removed, .up, .down, .resting, .writable:
            // What was decided before goes to those who had the shards: who leaves a room must not leave it elsewhere.
            self.perform(perform)
            let change = self.routes.follow(event, of: stage)
            self.core.shardsMoved(change, of: stage, at: now, into: &self.actions.pending)
            self.perform(perform)
        }
    }

    /// All that came in a turn was read: its previews go to the core.
    package func arrivalsEnded(at now: Instant) {
        self.arrivals.deliver(at: now, to: &self.core, into: &self.actions.pending)
    }

    /// Previews wait for each other: first those of all rooms, for the next envelope to a coalescer, then those of each room,
    /// for the next write to its members. The former saves the wake-ups on the way, which are most of what previews cost while
    /// there are few; the latter saves writes, and costs far more age.
    ///
    ///     share                0 ────────── half ────────── 1
    ///     between envelopes    none ─rises─► longest ───────►
    ///     between writes       none ────────► none ─rises─► longest
    package func previewsWait(_ share: Double) {
        self.routes.pause(min(2 * share, 1))
        self.core.previewsWait(max(2 * share - 1, 0))
    }

    // MARK: Out

    /// Performs what the core wants done, in order. What is done may lead to more.
    /// - Parameter act: does what is for apps, and returns what is for stages.
    package func perform(_ act: (GatewayAction) -> GatewayAction?) {
        let wasPerforming = exchange(&self.isPerforming, with: true)
        defer { self.isPerforming = wasPerforming }
        while let actions = self.actions.take() {
            for action in actions { if let left = act(action) { self.send(left) } }
            self.actions.giveBack(actions)
        }
    }

    private func send(_ action: GatewayAction) {
        switch action {
        case .preview(let shard, let preview): self.routes.preview(preview, of: shard)
        case .previewsEnd(let shard, let end): self.routes.previewsEnd(end, of: shard)
        case .commit(let shard, let commit): self.send(commit, of: shard)
        case .fanout(let shard, let record): self.routes.record(record, of: shard)
        case .formerFanout(let shard, let record): self.routes.formerRecord(record, of: shard)
        case .traced(let mark): self.trace(mark)
        default: break
        }
    }

    private func send(_ commit: Commit, of shard: Int) {
        switch self.routes.commit(commit, of: shard) {
        case .sent: if let trace = commit.trace { self.trace(TraceMark(trace, .sent, commit)) }
        case .noCredit: self.core.commitNotSent(commit)
        case .noInstance: break
        }
    }

    /// Sends commits that wait for credit as far as there is some.
    package func sendHeld(at now: Instant, _ act: (GatewayAction) -> GatewayAction?) {
        var shard: Int?
        repeat {
            shard = self.core.sendNextHeld(after: shard, at: now, into: &self.actions.pending) {
                self.routes.acceptsCommit(of: $0)
            }
            self.perform(act)
        } while shard != nil
    }
}
