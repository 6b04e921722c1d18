import Boot
import GatewayCore
import Mesh
import NIOCore
import Stages
import Timing
import Wire

/// What comes over the mesh: links and envelopes.
extension GatewayHub {
    /// Handles what happens on a link to a stage, in a turn of the links.
    func handle(_ event: StageLinks.Event, of stage: Stage) {
        let now = self.arrivalsBegan()
        switch event {
        case .envelope(let instance, let bytes):
            self.arrivals.receive(
                bytes, from: StageInstance(stage, instance), self.routes.fanouts.owners, self.intake, at: now,
                seconds: self.seconds, to: &self.core, into: &self.actions.pending
            ) { self.routes.allow($0, of: instance) }
        case .added, .removed, .up, .down, .resting, .writable:
            // What was decided before goes to those who had the shards: who leaves a room must not leave it elsewhere.
            self.perform()
            let change = self.routes.follow(event, of: stage)
            self.core.shardsMoved(change, of: stage, at: now, into: &self.actions.pending)
            self.perform()
            self.reviewReadiness()
        }
    }

    /// Handles what the ZeroMQ face brought.
    func handle(_ news: FaceNews) {
        _ = self.arrivalsBegan()
        switch news {
        case .packet(let peer, let key, let text): self.face.received(text, from: peer, key: key, self)
        case .namedItself(let peer): self.face.refuseName(peer, self)
        case .backEndsChanged(let peers): self.face.endUnlisted(in: peers, from: self)
        case .gone(let peer): self.face.gone(peer, from: self)
        }
    }

    /// Begins to handle what came in a turn of the links, unless it has begun.
    /// - Returns: the turn's moment.
    private func arrivalsBegan() -> Instant {
        if let now = self.arrivalsAt { return now }
        let start = NIODeadline.now()
        self.arrivals.lateness = self.watch.lateness(at: start)
        self.beginPreviewTurn()
        let now = Instant(wholeMillisecondsOf: start)
        self.arrivalsAt = now
        return now
    }

    /// A turn of the links is over.
    func arrivalsEnded() {
        guard let now = exchange(&self.arrivalsAt, with: nil) else { return }
        self.arrivals.deliver(at: now, to: &self.core, into: &self.actions.pending)
        self.batched {
            self.perform()
            self.sendHeld(at: now)
        }
    }

    /// Ready when every stage answers.
    func reviewReadiness() {
        self.mesh.report(
            self.patience.shortage(
                of: self.routes.owners, at: Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds)))
    }
}
