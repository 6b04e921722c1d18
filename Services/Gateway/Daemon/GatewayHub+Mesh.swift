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
        self.stage.linkChanged(event, of: stage, at: now, seconds: self.seconds) { self.performed($0) }
        if case .envelope = event { return }
        self.reviewReadiness()
    }

    /// Begins to handle what came in a turn of the links, unless it has begun.
    /// - Returns: the turn's moment.
    private func arrivalsBegan() -> Instant {
        if let now = self.arrivalsAt { return now }
        let start = NIODeadline.now()
        self.stage.lateness = self.watch.lateness(at: start)
        self.beginPreviewTurn()
        let now = Instant(wholeMillisecondsOf: start)
        self.arrivalsAt = now
        return now
    }

    /// A turn of the links is over.
    func arrivalsEnded() {
        guard let now = exchange(&self.arrivalsAt, with: nil) else { return }
        self.stage.arrivalsEnded(at: now)
        self.batched {
            self.perform()
            self.stage.sendHeld(at: now) { self.performed($0) }
        }
    }

    /// Ready when every stage answers.
    func reviewReadiness() {
        self.mesh.report(
            self.patience.shortage(
                of: self.stage.routes.owners, at: Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds)))
    }
}
