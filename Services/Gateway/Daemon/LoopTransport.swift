import Boot
import GatewayCore
import Mesh
import NIOCore
import SocketIOServer
import Stages
import Timing
import Wire

/// The apps' connections and the links to the stages, on the event loop.
final class LoopTransport: GatewayTransport {
    var apps: AppLines
    var answers = OpenAnswers()
    /// The links to the stages behind, while they are open.
    var links: GatewayLinks?
    let flushes: FlushQueue
    /// How late the loop is.
    let watch: LoopWatch
    private let report: AdmissionReport
    private let telemetry: GatewayTelemetry

    /// - Parameter report: hears of tokens that are refused later.
    init(
        apps: AppLines, flushes: FlushQueue, watch: LoopWatch, report: AdmissionReport, telemetry: GatewayTelemetry
    ) {
        self.apps = apps
        self.flushes = flushes
        self.watch = watch
        self.report = report
        self.telemetry = telemetry
    }

    // MARK: Time

    var moment: Instant { Instant(.now()) }
    var seconds: Double { WallClock.exactSeconds() }
    func lateness(at moment: Instant) -> Nanoseconds { self.watch.lateness(at: moment) }
    func takePreviewTurn() -> Bool { self.watch.takePreviewTurn() }

    // MARK: Stages

    func send(_ envelope: EnvelopeWriter, to instance: StageInstance) -> SendResult {
        self.links?.send(envelope, to: instance) ?? .unroutable
    }

    // MARK: Apps

    func flushing(_ body: () -> Void) { self.flushes.flushing(body) }

    func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) -> [Slot] {
        self.apps.broadcast(json, to: slots, step: step)
    }

    func perform(_ action: GatewayAction) -> GatewayAction? {
        switch action {
        case .acknowledge(let slot, let id, let json): self.apps[slot]?.acknowledge(id, json)
        case .snapshot(let slot, let snapshot): self.apps[slot]?.send(snapshot)
        case .dropSnapshot(let slot, let room): self.apps[slot]?.dropSnapshot(of: room)
        case .emit(let slot, let json): self.apps[slot]?.emit(json)
        case .signal(let slots, let json): self.telemetry.signalsDropped.add(self.apps.offer(json, to: slots))
        case .previews(let slots, let previews): self.apps.deliver(previews, to: slots)
        case .sightings(let sightings, let previews): self.apps.deliver(previews, to: sightings)
        case .dropPreviews(let slots, let room): for slot in slots { self.apps[slot]?.dropPreviews(of: room) }
        case .disconnect(let slot): self.apps[slot]?.disconnect()
        case .close(let slot): self.apps[slot]?.goAway()
        case .expel(let slot): self.apps[slot]?.expel()
        case .tokenRefused(let failure): self.report.tokenRefused(failure, from: nil)
        case .http(let request, let status, let json):
            self.answers.takeResponder(of: request)?(HTTPAnswer(status: status, json: json))
        case .opening(let slot, let text): self.subscriber(in: slot)?.open(with: text)
        case .noStream(let slot, let refusal): self.subscriber(in: slot)?.refuse(refusal)
        case .events(let slots, let text): self.send(text, toSubscribers: slots)
        case .preview, .previewsEnd, .commit, .fanout, .formerFanout, .traced, .broadcast, .shed:
            return action
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

    func shed(_ debtor: AnswerBudget.Debtor, in slot: Slot?) {
        switch debtor {
        case .app(let connection): self.line(of: connection, in: slot)?.shed()
        case .request(let number): self.answers.drop(number)
        }
    }

    func unreadBytes(of connection: UInt64, in slot: Slot?) -> Int {
        let bytes = self.line(of: connection, in: slot)?.outstandingBytes ?? 0
        if bytes == 0 { self.answers[departed: connection] = nil }
        return bytes
    }

    private func line(of connection: UInt64, in slot: Slot?) -> (any AppLine)? {
        slot.flatMap { self.apps[$0] } ?? self.answers[departed: connection]
    }

    func gone(_ slot: Slot, connection: UInt64, owesAnswers: Bool) {
        self.apps[slot]?.ended()
        if owesAnswers { self.answers[departed: connection] = self.apps[slot] }
        self.apps.remove(slot)
    }
}
