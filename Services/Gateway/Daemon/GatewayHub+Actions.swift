import Boot
import GatewayCore
import Stages
import Timing
import Wire

/// Doing what the core decided.
extension GatewayHub {
    func perform() {
        let wasPerforming = exchange(&self.isPerforming, with: true)
        defer { self.isPerforming = wasPerforming }
        // What is done may lead to more.
        while let actions = self.actions.take() {
            for action in actions { self.perform(action) }
            self.actions.giveBack(actions)
        }
    }

    private func perform(_ action: GatewayAction) {
        switch action {
        case .acknowledge(let slot, let id, let json): self.apps[slot]?.acknowledge(id, json)
        case .snapshot(let slot, let snapshot): self.apps[slot]?.send(snapshot)
        case .dropSnapshot(let slot, let room): self.apps[slot]?.dropSnapshot(of: room)
        case .emit(let slot, let json): self.apps[slot]?.emit(json)
        case .broadcast(let slots, let json, let step): self.broadcast(json, to: slots, step: step)
        case .signal(let slots, let json): self.telemetry.signalsDropped.add(self.apps.offer(json, to: slots))
        case .previews(let slots, let previews): self.apps.deliver(previews, to: slots)
        case .sightings(let sightings, let previews): self.apps.deliver(previews, to: sightings)
        case .dropPreviews(let slots, let room): for slot in slots { self.apps[slot]?.dropPreviews(of: room) }
        case .disconnect(let slot): self.apps[slot]?.disconnect()
        case .close(let slot): self.apps[slot]?.goAway()
        case .shed(let debtor): self.shed(debtor)
        case .expel(let slot): self.apps[slot]?.expel()
        case .tokenRefused(let failure): self.admission.report.tokenRefused(failure, from: nil)
        case .preview(let shard, let preview): self.routes.preview(preview, of: shard)
        case .previewsEnd(let shard, let end): self.routes.previewsEnd(end, of: shard)
        case .commit(let shard, let commit): self.send(commit, shard: shard)
        case .traced(let mark): self.logger.trace(mark)
        case .fanout(let shard, let record): self.routes.record(record, of: shard)
        case .formerFanout(let shard, let record): self.routes.formerRecord(record, of: shard)
        case .http(let request, let status, let json):
            self.responders.removeValue(forKey: request)?(HTTPAnswer(status: status, json: json))
        }
    }

    private func send(_ commit: Commit, shard: Int) {
        switch self.routes.commit(commit, of: shard) {
        case .sent:
            if let trace = commit.trace { self.logger.trace(TraceMark(trace, .sent, commit)) }
        case .noCredit: self.core.commitNotSent(commit)
        case .noInstance: break
        }
    }

    private func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) {
        let behind = self.apps.broadcast(json, to: slots, step: step)
        guard let step, let seq = step.seq, !behind.isEmpty else { return }
        self.core.fellBehind(behind, in: step.room, at: seq, into: &self.actions.pending)
    }

    /// Sends commits that wait for credit as far as there is some.
    func sendHeld(at now: Instant) {
        var shard: Int?
        repeat {
            shard = self.core.sendNextHeld(after: shard, at: now, into: &self.actions.pending) {
                self.routes.acceptsCommit(of: $0)
            }
            self.perform()
        } while shard != nil
    }
}
