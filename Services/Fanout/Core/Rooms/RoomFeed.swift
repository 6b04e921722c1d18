internal import Timing
internal import Wire

/// A room as its gateways see it: elements, numbered updates, members and previews.
///
/// What it sends goes to the caller's actions, in the order in which gateways must see it.
struct RoomFeed: Sendable {
    let name: Identifier
    var stream = RoomStream()
    var elements = ElementStore()
    var audience: RoomAudience
    /// Previews that wait for an update.
    var early: ReorderBuffer
    var rates = RoomRates()
    /// When the room moved here from another fan-out: for a while after that gestures may be open that were never seen
    /// here.
    var movedHereAt: Instant?
    /// Until then gateways may still come whose members have been in the room all along; nil: all members are known.
    private var settlesAt: Instant?

    init(name: Identifier, limits: FanoutLimits) {
        self.name = name
        self.audience = RoomAudience(of: name)
        self.early = ReorderBuffer(capacity: limits.earlyPreviews)
    }

    var footprint: Int {
        512 + self.elements.footprint + self.stream.recentBytes + self.audience.footprint
    }

    /// True when the room moved here less than `span` ago.
    func hasMovedHere(within span: Nanoseconds, at now: Instant) -> Bool {
        guard let movedHereAt = self.movedHereAt else { return false }
        return now < movedHereAt + span
    }

    /// Releases what only saves work.
    mutating func releaseCaches() {
        self.stream.releaseRecent()
        self.elements.releaseSnapshot()
    }

    // MARK: Loads

    /// Asks for the room's snapshot, unless that is under way or nothing may be asked yet.
    mutating func load(with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard services.history.isKnown, !self.stream.isLoading else { return }
        self.stream.loadAsked(services.questions.ask(.room(self.name), for: .room(self.name, .load), into: &actions))
    }

    /// Loads the room again, even if an older load is under way.
    mutating func reload(isNewHistory: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        if isNewHistory { self.stream.historyReplaced() }
        if let tag = self.stream.endLoad() { services.questions.withdraw(tag) }
        self.load(with: &services, into: &actions)
    }

    /// Closes a gap by a load: when the shard is past the missing update, it will not come any more.
    mutating func closeHole(
        isShardBehind: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        if !isShardBehind, self.stream.hasHole { self.load(with: &services, into: &actions) }
    }

    /// Installs the snapshot that the room waits for, and sends on what waited for it.
    mutating func install(
        _ snapshot: RoomSnapshot, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let before = services.history.position(at: self.stream.seq)
        let installation = self.stream.install(snapshotAt: snapshot.seq)
        if installation != .passed { self.elements.replace(with: snapshot, at: now) }
        switch installation {
        case .passed, .began: break
        case .jumped: self.audience.jumped(from: before)
        case .lost:
            for gateway in self.audience.occupancy.streaming {
                self.sendPosition(to: gateway, isReset: true, with: &services, into: &actions)
            }
        }
        self.applyKept(at: now, with: &services, into: &actions)
        self.releaseEarly(at: now, with: &services, into: &actions)
        if self.stream.needsLoad { self.load(with: &services, into: &actions) }
        self.closeHole(isShardBehind: isShardBehind, with: &services, into: &actions)
    }

    // MARK: Updates

    /// An update: applied and sent on when it is the next one, with what waited for it.
    /// - Returns: true when the room moved on.
    mutating func updateReceived(
        _ update: Update, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        switch self.stream.offer(update, limits: services.limits) {
        case .next:
            self.apply(update, at: now, with: &services, into: &actions)
            self.applyKept(at: now, with: &services, into: &actions)
            return true
        case .duplicate:
            services.counters.duplicates += 1
        case .kept:
            self.closeHole(isShardBehind: isShardBehind, with: &services, into: &actions)
        case .overflow:
            if self.stream.isLive { self.load(with: &services, into: &actions) }
        }
        return false
    }

    private mutating func apply(
        _ update: Update, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.stream.advance(over: update, at: now, limits: services.limits)
        self.rates.updateApplied(at: now)
        self.elements.apply(update, at: now)
        self.audience.stream(update, into: &actions)
        if self.audience.needsAreas {
            self.repeatGestures(after: update, at: now, with: &services, into: &actions)
        }
        if !self.early.isEmpty { self.releaseEarly(at: now, with: &services, into: &actions) }
    }

    private mutating func applyKept(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        while let update = self.stream.dequeueNext() {
            self.apply(update, at: now, with: &services, into: &actions)
        }
    }

    // MARK: Answers

    enum Answer {
        /// Nothing: the log is read for it.
        case waits
        /// Nothing: it would have about that many bytes, which is more than its gateway allows.
        case weighs(Int)
        /// Nothing: no link carries the room.
        case tooLarge
        case content(RoomContent)
    }

    mutating func answer(
        to tag: UInt64, _ pending: PendingJoin, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) -> Answer {
        let besides = services.rulesText.count + 512 + self.audience.occupancy.answerBytes
        if let resume = pending.join.resume, services.history.isResumable(resume) {
            if case .asked = pending.replay { return .waits }
            if let missed = self.stream.missed(
                after: resume.seq, rows: pending.replay.rows ?? [], limits: services.limits)
            {
                let bytes = missed.reduce(besides) { $0 + $1.footprint }
                if bytes > pending.join.allowance { return .weighs(bytes) }
                services.counters.replays += 1
                return .content(.updates(missed))
            }
            if case .notAsked = pending.replay, self.stream.isReplayable(after: resume.seq, limits: services.limits) {
                services.joins[tag]?.replay = .asked
                services.questions.ask(
                    .roomLog(self.name, after: resume.seq, limit: services.limits.replay),
                    for: .room(self.name, .replay(tag)), into: &actions)
                return .waits
            }
        }
        if self.elements.snapshotBytes > services.limits.roomBytes { return .tooLarge }
        let bytes = besides + self.elements.snapshotBytes
        if bytes > pending.join.allowance { return .weighs(bytes) }
        services.counters.snapshots += 1
        return .content(.elements(self.elements.snapshot()))
    }

    mutating func reply(to read: RoomRead, in history: DatabaseHistory, limits: FanoutLimits) -> GatewayRecord {
        let bytes = self.elements.snapshotBytes
        if bytes > limits.roomBytes { return .roomState(read.reply(.unavailable)) }
        if self.stream.seq == 0 { return .roomState(read.reply(.neverUsed)) }
        if bytes > read.allowance {
            return .answerWeight(
                AnswerWeight(request: read.request, room: self.name, isRead: true, bytes: UInt32(clamping: bytes)))
        }
        let position = history.position(at: self.stream.seq)
        return .roomState(read.reply(.state(position, elements: self.elements.snapshot())))
    }

    /// Sends a gateway the position of the stream, the members, and what those show who are connected elsewhere.
    func sendPosition(
        to gateway: GatewayID, isReset: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let position = services.history.position(at: self.stream.seq)
        actions.append(
            .send(.roomPosition(RoomPosition(room: self.name, position: position, isReset: isReset)), to: gateway))
        self.audience.sendMembers(to: gateway, isComplete: self.settlesAt == nil, into: &actions)
        self.audience.sendAwareness(to: gateway, into: &actions)
        if isReset { services.counters.resets += 1 }
    }

    // MARK: Members

    /// A part of the room's gateways has turned to this fan-out, or to another one. Others may follow, and who left
    /// meanwhile is known to nobody: the list of members counts after the time in which gateways come back.
    mutating func unsettleMembers(at now: Instant, with services: inout RoomServices) {
        guard self.settlesAt == nil else { return }
        let deadline = now + services.limits.gatewayGrace
        self.settlesAt = deadline
        services.deadlines.set(.members, for: self.name, at: deadline)
    }

    /// Sends everybody who is in the room, when that is certain.
    mutating func settleMembers(at now: Instant, into actions: inout [FanoutAction]) {
        guard let settlesAt, settlesAt <= now else { return }
        self.settlesAt = nil
        self.audience.sendMembers(to: nil, isComplete: true, into: &actions)
    }
}
