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
    var routes = MeshRoutes()
    var answers = OpenAnswers()
    /// The links to the stages behind, while they are open.
    var links: GatewayLinks?
    let flushes: FlushQueue
    /// How late the loop is.
    let watch: LoopWatch
    private let report: AdmissionReport
    private let telemetry: GatewayTelemetry
    private let trace: (TraceMark) -> Void

    /// - Parameters:
    ///   - report: hears of tokens that are refused later.
    ///   - trace: logs a step of a traced commit.
    init(
        apps: AppLines, flushes: FlushQueue, watch: LoopWatch, report: AdmissionReport, telemetry: GatewayTelemetry,
        trace: @escaping (TraceMark) -> Void
    ) {
        self.apps = apps
        self.trace = trace
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

    func perform(_ action: GatewayAction) -> Unsent? {
        switch action {
        case .acknowledge(let slot, let id, let json): self.apps[slot]?.acknowledge(id, json)
        case .snapshot(let slot, let snapshot): self.apps[slot]?.send(snapshot)
        case .dropSnapshot(let slot, let room): self.apps[slot]?.dropSnapshot(of: room)
        case .emit(let slot, let json): self.apps[slot]?.emit(json)
        case .broadcast(let slots, let json, let step):
            let behind = self.apps.broadcast(json, to: slots, step: step)
            if let step, let seq = step.seq, !behind.isEmpty { return .update(to: behind, in: step.room, seq) }
        case .signal(let slots, let json): self.telemetry.signalsDropped.add(self.apps.offer(json, to: slots))
        case .previews(let slots, let previews): self.apps.deliver(previews, to: slots)
        case .sightings(let sightings, let previews): self.apps.deliver(previews, to: sightings)
        case .dropPreviews(let slots, let room): for slot in slots { self.apps[slot]?.dropPreviews(of: room) }
        case .disconnect(let slot): self.apps[slot]?.disconnect()
        case .close(let slot): self.apps[slot]?.goAway()
        case .shed(.app(let connection), let slot): self.line(of: connection, in: slot)?.shed()
        case .shed(.request(let number), _): self.answers.drop(number)
        case .expel(let slot): self.apps[slot]?.expel()
        case .tokenRefused(let failure): self.report.tokenRefused(failure, from: nil)
        case .http(let request, let status, let json):
            self.answers.takeResponder(of: request)?(HTTPAnswer(status: status, json: json))
        case .opening(let slot, let text): self.subscriber(in: slot)?.open(with: text)
        case .noStream(let slot, let refusal): self.subscriber(in: slot)?.refuse(refusal)
        case .events(let slots, let text): self.send(text, toSubscribers: slots)
        case .preview(let shard, let preview): self.routes.preview(preview, of: shard)
        case .previewsEnd(let shard, let end): self.routes.previewsEnd(end, of: shard)
        case .commit(let shard, let commit):
            let outcome = self.routes.commit(commit, of: shard)
            if outcome == .noCredit { return .commit(commit) }
            if outcome == .sent, let trace = commit.trace { self.trace(TraceMark(trace, .sent, commit)) }
        case .fanout(let shard, let record): self.routes.record(record, of: shard)
        case .formerFanout(let shard, let record): self.routes.formerRecord(record, of: shard)
        case .traced(let mark): self.trace(mark)
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
