import Boot
import GatewayCore
import Mesh
import NIOCore
import Stages
import Timing
import Wire

/// What comes over the mesh: links and envelopes.
extension GatewayHub {
    /// Handles what came over the links.
    func handle(_ news: [MeshNews]) {
        let start = NIODeadline.now()
        self.arrivals.lateness = self.watch.lateness(at: start)
        self.beginPreviewTurn()
        let now = Instant(wholeMillisecondsOf: start)
        for item in news { self.handle(item, at: now) }
        self.arrivals.deliver(at: now, to: &self.core, into: &self.actions.pending)
        self.batched {
            self.perform()
            self.sendHeld(at: now)
        }
        self.settle()
    }

    private func handle(_ item: MeshNews, at now: Instant) {
        switch item {
        case .added(let instance, let name):
            self.routes.topology.added(instance, named: name)
            self.reviewReadiness()
        case .removed(let instance):
            self.routes.removed(instance)
            self.reviewReadiness()
        case .up(let instance, let greeting, let isResting):
            self.routes.senders.linkUp(instance, greeting: greeting)
            self.changed(instance, isResting ? .rests : .serves, at: now)
        case .resting(let instance, let isResting):
            self.changed(instance, isResting ? .rests : .serves, at: now)
        case .down(let instance):
            self.routes.senders.linkDown(instance)
            self.changed(instance, .isGone, at: now)
        case .coalescer(let coalescer, let isOpen): self.routes.coalescerChanged(coalescer, isOpen: isOpen)
        case .envelope(let instance, let bytes): self.received(bytes, from: instance, at: now)
        case .face(let peer, let key, let text): self.face.received(text, from: peer, key: key, self)
        case .faceNamedItself(let peer): self.face.refuseName(peer, self)
        case .backEndsChanged(let peers): self.face.endUnlisted(in: peers, from: self)
        case .faceGone(let peer): self.face.gone(peer, from: self)
        }
    }

    private func changed(_ instance: StageInstance, _ state: ShardOwners.InstanceState, at now: Instant) {
        // What was decided before goes to those who had the shards: who leaves a room must not leave it elsewhere.
        self.perform()
        for move in self.routes.topology.changed(instance, state) {
            self.core.shardsMoved(move, at: now, into: &self.actions.pending)
            self.perform()
        }
        self.reviewReadiness()
    }

    /// Ready when every stage answers.
    func reviewReadiness() {
        self.mesh.report(
            self.patience.shortage(
                of: self.routes.topology.stages, at: Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds)))
    }

    private func received(_ bytes: [UInt8], from instance: StageInstance, at now: Instant) {
        bytes.withUnsafeBytes { bytes in
            self.arrivals.receive(
                bytes, from: instance, self.routes.topology, self.intake, at: now, seconds: self.seconds,
                to: &self.core, into: &self.actions.pending
            ) { self.routes.senders.allow($0, for: instance) }
        }
    }
}
