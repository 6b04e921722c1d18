import Boot
import GatewayCore
import SocketIO
import SocketIOServer
import Stages
import Timing
import Wire

/// Doing what the core decided.
extension GatewayHub {
    func perform() { self.stage.perform { self.performed($0) } }

    /// Does what is for apps.
    /// - Returns: what is for stages.
    func performed(_ action: GatewayAction) -> GatewayAction? {
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
        case .http(let request, let status, let json):
            self.answers.takeResponder(of: request)?(HTTPAnswer(status: status, json: json))
        case .opening(let slot, let text): self.subscriber(in: slot)?.open(with: text)
        case .noStream(let slot, let refusal): self.subscriber(in: slot)?.refuse(refusal)
        case .events(let slots, let text): self.send(text, toSubscribers: slots)
        case .preview, .previewsEnd, .commit, .fanout, .formerFanout, .traced: return action
        }
        return nil
    }

    private func subscriber(in slot: Slot) -> SubscriberLine? { self.apps[slot] as? SubscriberLine }

    /// A subscriber that reads too slowly is ended, and goes on from where it was.
    private func send(_ text: [UInt8], toSubscribers slots: [Slot]) {
        for slot in slots {
            guard let line = self.subscriber(in: slot) else { continue }
            if line.isBehind(self.apps.behindBytes) { line.shed() } else { line.send(text) }
        }
    }

    private func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) {
        let behind = self.apps.broadcast(json, to: slots, step: step)
        guard let step, let seq = step.seq, !behind.isEmpty else { return }
        self.stage.core.fellBehind(behind, in: step.room, at: seq, into: &self.stage.actions.pending)
    }
}

extension GatewayHub {
    /// Announces to all apps that this gateway is about to stop, and draws when each is closed.
    /// - Parameter spread: over how long they are closed.
    func announceDraining(spread: Nanoseconds) -> Farewell {
        let slots = self.apps.slots
        let now = self.now
        let farewell = Farewell(slots, spread: spread, at: now) { UInt64.random(in: $0) }
        let packet = PreparedPacket(event: farewell.announcement(at: now))
        for slot in slots { self.apps[slot]?.send(packet, step: nil) }
        self.flushes.flush()
        return farewell
    }

    /// Goes one step on in a farewell.
    func proceed(_ farewell: inout Farewell) {
        let step = farewell.timeReached(self.now) { self.stage.core.owesResults(to: $0) }
        for slot in step.leaving { self.stage.core.startLeaving(slot, into: &self.stage.actions.pending) }
        self.perform()
        for slot in step.closing { self.apps[slot]?.goAway() }
        self.flushes.flush()
    }
}
