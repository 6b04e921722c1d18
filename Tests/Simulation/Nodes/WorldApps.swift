import GatewayCore
import GatewayDaemon
import Mesh
import Stages
import Timing
import Wire

/// A gateway's apps and links in a world.
final class WorldApps: GatewayTransport {
    private unowned let world: World
    let links: [Stage: [Link]]
    var routes: MeshRoutes
    private var bySlot: [Slot: AppConnection] = [:]
    /// How many snapshots each app still reads.
    private var reading: [Slot: Int] = [:]
    private var hadPreviewTurn = false
    /// How long previews wait for their turn: it is the bound that makes it too long.
    private static let lateness = Nanoseconds.microseconds(100)
    /// For a gateway that is wrong on purpose: the commits that it has sent.
    private var sent: Set<String> = []
    let mistakes: ViewportMistakes
    private var previewMistakes: PreviewMistakes

    init(_ process: Process, _ routes: MeshRoutes, in world: World) {
        self.world = world
        self.routes = routes
        self.mistakes = ViewportMistakes(mutant: world.plan.mutant)
        self.previewMistakes = PreviewMistakes(mutant: world.plan.mutant)
        let stages = [Stage.coalescer, .committer, .fanout]
        self.links = Dictionary(uniqueKeysWithValues: stages.map { ($0, world.links(of: process, to: $0)) })
    }

    func add(_ connection: AppConnection, at slot: Slot) {
        connection.slot = slot
        self.bySlot[slot] = connection
    }

    /// The slot of a connection; nil when it is over.
    func slot(of connection: AppConnection) -> Slot? {
        connection.slot.flatMap { self.bySlot[$0] === connection ? $0 : nil }
    }

    /// An app has read a snapshot.
    func snapshotRead(by slot: Slot) { self.reading[slot, default: 0] -= 1 }

    // MARK: Time

    func passBegins() { self.hadPreviewTurn = false }

    func takePreviewTurn() -> Bool { !exchange(&self.hadPreviewTurn, with: true) }

    var moment: Instant { Instant(nanoseconds: self.world.now) }

    var seconds: Double { Double(self.world.now) / 1e9 + (self.world.plan.mutant == .clockWrong ? 2 : 0) }

    func lateness(at moment: Instant) -> Nanoseconds { Self.lateness }

    // MARK: Out

    func send(_ envelope: EnvelopeWriter, to instance: StageInstance) -> SendResult {
        guard let link = self.links[instance.stage]?[instance.number] else { return .unroutable }
        return self.world.send(envelope.bytes, on: link)
    }

    func flushing(_ body: () -> Void) { body() }

    /// Every app reads what it is sent, snapshots after a while.
    func unreadBytes(of connection: UInt64, in slot: Slot?) -> Int {
        slot.flatMap { self.reading[$0] } ?? 0 > 0 ? .max : 0
    }

    func gone(_ slot: Slot, connection: UInt64, owesAnswers: Bool) {
        self.bySlot[slot] = nil
        self.reading[slot] = nil
    }

    func perform(_ action: GatewayAction) -> Unsent? {
        switch action {
        case .acknowledge(let slot, let id, let json):
            if self.world.plan.mutant == .answersLost, self.world.random.place(40) == 0 { return nil }
            self.tell(slot, .acknowledged(id), AppText(json))
        case .snapshot(let slot, let snapshot):
            self.tell(slot, .acknowledged(snapshot.ackID), AppText(Array(snapshot.arguments.dropFirst().dropLast())))
            self.send(snapshot.parts, of: snapshot.room, to: slot)
        case .dropSnapshot, .dropPreviews: break
        case .emit(let slot, let json): self.tell(slot, .event, AppText(json))
        case .broadcast(let slots, let json, _), .signal(let slots, let json):
            let text = AppText(json)
            for slot in slots { self.tell(slot, .event, text) }
        case .previews(let slots, let previews):
            for slot in slots { self.show(previews.filter { $0.sender != slot }, to: slot) }
        case .sightings(let sightings, let previews):
            for sighting in sightings { self.show(sighting, of: previews) }
        case .preview(let shard, let preview): self.routes.preview(self.previewMistakes.altered(preview), of: shard)
        case .previewsEnd(let shard, let end): self.routes.previewsEnd(end, of: shard)
        case .commit(let shard, let commit):
            if !self.isLost(commit), self.routes.commit(commit, of: shard) == .noCredit { return .commit(commit) }
        case .fanout(let shard, let record):
            if let record = self.mistakes.altered(record) { self.routes.record(record, of: shard) }
        case .formerFanout(let shard, let record):
            if self.world.plan.mutant != .farewellOff { self.routes.formerRecord(record, of: shard) }
        case .opening(let slot, let text): self.tell(slot, .event, AppText(text))
        case .events(let slots, let bytes):
            let text = AppText(bytes)
            for slot in slots { self.tell(slot, .event, text) }
        case .close(let slot), .noStream(let slot, _):
            if let connection = self.bySlot[slot] { self.world.sever(connection) }
        case .disconnect, .shed, .expel, .tokenRefused, .http, .traced: break
        }
        return nil
    }

    /// A hop promises nothing: in some worlds commits are lost that others follow.
    private func isLost(_ commit: Commit) -> Bool {
        if self.world.plan.isUnnumbered, self.world.now < self.world.healAt, self.world.random.place(16) == 0 {
            self.world.count("commits.lost")
            return true
        }
        guard self.world.plan.mutant == .inFlightOff else { return false }
        return !self.sent.insert("\(commit.session) \(commit.number)").inserted
    }

    private func show(_ sighting: Sighting, of previews: [PreviewText]) {
        guard let app = self.bySlot[sighting.slot]?.app else { return }
        let seen = sighting.indices.map { previews[$0] }
        self.show(seen.filter { self.mistakes.shows($0, to: app) }, to: sighting.slot)
    }

    private func show(_ previews: [PreviewText], to slot: Slot) {
        guard let app = self.bySlot[slot]?.app else { return }
        let events = app.takesBatches ? PreviewText.batches(of: previews) : previews.map(\.json)
        if events.count < previews.count { self.world.count("previews.batches") }
        for json in events { self.tell(slot, .event, AppText(json)) }
    }

    /// All parts are under way immediately; the app has read them a while later.
    private func send(_ parts: SnapshotParts, of room: Identifier, to slot: Slot) {
        guard !parts.isEmpty, let connection = self.bySlot[slot] else { return }
        self.reading[slot, default: 0] += 1
        self.world.count("gateway.snapshot-parts", Int64(parts.count))
        for part in parts { self.tell(slot, .event, AppText(part)) }
        self.world.after(self.world.random.number(0...60) * .millisecond) { [weak world = self.world] in
            world?.tell(connection, .snapshotRead(room: room.text))
        }
    }

    func tell(_ slot: Slot, _ kind: AppMessage, _ text: AppText) {
        if let connection = self.bySlot[slot] { self.world.tell(connection, kind, text) }
    }
}
