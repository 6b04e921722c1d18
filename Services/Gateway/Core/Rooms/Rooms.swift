package import Timing
package import Wire

/// What the gateway knows of rooms: their streams, and previews on their way from members and to them.
///
///     update, position ──► streams ──► members, or a question to the fan-out for what is missing
///     preview ───────────► pacer ────► members whose viewports it is in, or the coalescer
///     awareness ─────────► pacers ───► members whose viewports it is in, or the fan-out
///
/// Streams, the pacer and viewports know nothing of each other: a step of a stream ends previews, and a room without
/// members is forgotten by all.
package struct Rooms {
    package private(set) var streams = RoomStreams()
    var pacer: PreviewPacer
    private var ages = PreviewAges()
    private var delivery: PreviewDelivery
    private var members = ShownMembers()
    private var awareness = RoomsAwareness()
    private var awarenessPacer = AwarenessPacer()
    /// What apps saw here lately.
    var recent = RecentNumbers()
    private var questions = RoomQuestions()
    /// Previews handed to coalescers.
    package private(set) var previewsSentTotal: UInt64 = 0

    init(limits: GatewayLimits) {
        self.pacer = PreviewPacer(limits: limits)
        self.delivery = PreviewDelivery(turnMembers: limits.previewWrites)
    }

    package var intervals: FlushIntervals { self.pacer.intervals }
    /// How old previews were when they were delivered, see ``PreviewAges``.
    package var previewAges: LatencyTally { self.ages.tally }
    /// How many rooms' previews wait for their interval or turn.
    package var waitingCount: Int { self.pacer.waitingCount }
    /// Previews that a member did not get because they were out of its view.
    package var previewsHiddenTotal: UInt64 { self.delivery.viewports.hiddenTotal }

    /// The previews of each room wait for each other, because the gateway is busy.
    /// - Parameter share: of the longest wait; 0: they do not wait.
    package mutating func previewsWait(_ share: Double) { self.pacer.wait(share) }

    // MARK: Members

    /// A member comes in whose join was answered as of `position`.
    mutating func enter(
        _ slot: Slot, _ room: Identifier, at position: Position, as kind: ReaderKind, options: StreamOptions,
        isLoading: Bool,
        _ connections: Connections, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.delivery.complete(room, into: &actions)
        let stream = self.streams.position(of: room)
        if let stream, stream != position {
            self.recent.note(position.seq, in: room)
            // The newcomer may know of commits that end what waits here.
            let waiting = self.pacer.removeWaiting(of: room)
            self.deliver(waiting, of: room, lateness: .zero, connections, at: now, into: &actions)
        }
        // A member that joins again is not sent the updates before its answer, which may end what waits for it.
        if self.streams.contains(slot, in: room) { actions.append(.dropPreviews([slot], room: room)) }
        let outcome = self.streams.enter(
            slot, room, at: position, as: kind, options: options, isLoading: isLoading,
            into: &actions)
        self.follow(outcome, in: room, connections, into: &actions)
        // The members lost their places and come back, with their viewports.
        if stream == nil, self.delivery.viewports.contains(room) { Self.askForAreas(of: room, into: &actions) }
    }

    /// The answer to a join as its app is to get it: members whom the others here see belong to it, too.
    func completed(_ joined: JoinReply.Joined, in room: Identifier) -> JoinReply.Joined {
        var joined = joined
        joined.members += self.members.missing(from: joined.members, in: room)
        return joined
    }

    /// A member's join was answered: it sees what the others show, and the others see those who are in its answer.
    mutating func answerShown(
        _ joined: JoinReply.Joined, to slot: Slot, in room: Identifier, into actions: inout [GatewayAction]
    ) {
        self.awareness.note(joined, in: room)
        for news in self.members.note(joined.members, in: room) { self.show(news, except: slot, into: &actions) }
    }

    /// A member was sent all of a snapshot that it was answered with ``GatewayAction/snapshot(_:_:)``.
    package mutating func snapshotRead(of room: Identifier, by slot: Slot, into actions: inout [GatewayAction]) {
        self.streams.snapshotRead(of: room, by: slot, into: &actions)
        self.forgetIfEmpty(room, into: &actions)
    }

    /// Members here may have missed updates up to this position, or whatever it was if that is nil.
    mutating func catchUp(
        _ room: Identifier, to position: Position?, _ connections: Connections, into actions: inout [GatewayAction]
    ) {
        guard let stream = self.streams.position(of: room) else { return }
        if let position, stream.epoch == position.epoch, stream.seq >= position.seq { return }
        self.follow(self.streams.startCatchingUp(room), in: room, connections, into: &actions)
    }

    /// A member speaks the full contract from now on.
    mutating func becomeModern(_ slot: Slot, in room: Identifier, options: StreamOptions) {
        self.streams.becomeModern(slot, in: room, options: options)
    }

    /// A connection is in a room no more. What it moved last is shown, whatever the interval.
    mutating func leave(
        _ slot: Slot, _ connection: UInt64, _ membership: Membership, in room: Identifier,
        into actions: inout [GatewayAction]
    ) {
        self.delivery.complete(room, into: &actions)
        for preview in membership.heldPreviews + self.pacer.removeUnsent(of: room) {
            self.forward(preview, into: &actions)
        }
        self.awarenessPacer.remove(connection, in: room, sid: membership.sid)
        self.streams.leave(slot, room)
        self.delivery.viewports.leave(slot, room)
        self.forgetIfEmpty(room, into: &actions)
        actions.append(.fanout(of: room, .leave(Leave(room: room, connection: connection))))
    }

    /// These members have not read enough of their output to get further updates: they lose their place in the room, from
    /// the update `seq` on, and join again when they have read what waits.
    package mutating func fellBehind(
        _ slots: [Slot], in room: Identifier, at seq: UInt64, into actions: inout [GatewayAction]
    ) {
        self.delivery.complete(room, into: &actions)
        self.streams.fellBehind(slots, in: room, at: seq, into: &actions)
        self.forgetIfEmpty(room, into: &actions)
    }

    private mutating func forgetIfEmpty(_ room: Identifier, into actions: inout [GatewayAction]) {
        let position = self.streams.position(of: room)
        let isForgotten = self.streams.forgetIfEmpty(room)
        if self.delivery.viewports.contains(room), self.streams.position(of: room) == nil {
            self.delivery.viewports.forgetIfUnseen(room)
        }
        guard isForgotten else { return }
        if let position { self.recent.note(position.seq, in: room) }
        self.members.forget(room)
        self.awareness.forget(room)
        for preview in self.pacer.forget(room) { self.forward(preview, into: &actions) }
    }

    // MARK: Streams

    /// The next update of a room's stream came.
    mutating func updateReceived(_ update: Update, _ connections: Connections, into actions: inout [GatewayAction]) {
        self.delivery.complete(update.room, into: &actions)
        let outcome = self.streams.updateReceived(update, into: &actions)
        if case .delivered = outcome { self.drop(update, in: update.room) }
        self.follow(outcome, in: update.room, connections, into: &actions)
    }

    /// Drops the previews that must not follow an update.
    private mutating func drop(_ update: Update, in room: Identifier) {
        let isFollowed = self.delivery.viewports.contains(room)
        guard isFollowed || !self.pacer.isEmpty else { return }
        let ended = update.endedPreviews
        self.pacer.drop(ended, in: room)
        guard isFollowed else { return }
        self.delivery.viewports.drop(ended, in: room)
        self.delivery.viewports.settle(update.entries.map(\.id), by: update.user, in: room)
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    mutating func positionReceived(
        _ answer: RoomPosition, _ connections: Connections, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.delivery.complete(answer.room, into: &actions)
        let hidden = self.awareness.reset(
            answer.room, but: connections.shownAwareness(self.streams.members(of: answer.room), of: answer.room))
        if !hidden.isEmpty {
            self.take(hidden[...], of: answer.room, lateness: .zero, connections, at: now, into: &actions)
            self.reviewIntervals(at: now, into: &actions)
        }
        let outcome = self.streams.positionReceived(answer, into: &actions)
        self.follow(outcome, in: answer.room, connections, into: &actions)
    }

    /// A user came into a room, is shown otherwise there or left it.
    mutating func presenceChanged(
        _ presence: Presence, except joiner: Slot?, into actions: inout [GatewayAction]
    ) {
        if let news = self.members.note(presence) { self.show(news, except: joiner, into: &actions) }
    }

    /// The fan-out says who is in a room: comings and goings that were missed are made up for.
    package mutating func membersReceived(_ list: RoomMembers, into actions: inout [GatewayAction]) {
        for news in self.members.note(list) { self.show(news, except: nil, into: &actions) }
    }

    private mutating func show(_ news: MemberNews, except joiner: Slot?, into actions: inout [GatewayAction]) {
        self.delivery.complete(news.room, into: &actions)
        self.streams.membersChanged(news, except: joiner, into: &actions)
    }

    /// A gesture ended without a commit.
    package mutating func gestureEnded(_ ended: GestureEnded, into actions: inout [GatewayAction]) {
        self.delivery.complete(ended.gesture.room, into: &actions)
        self.pacer.drop([ended.gesture.endedPreviews], in: ended.gesture.room)
        self.delivery.viewports.drop([ended.gesture.endedPreviews], in: ended.gesture.room)
        self.streams.gestureEnded(ended, into: &actions)
    }

    /// Another fan-out serves these shards now: it sends what is missing.
    /// - Parameter hadOwner: true when the former one is still there and must forget the rooms.
    mutating func fanoutMoved(
        _ shards: Set<Int>, hadOwner: Bool, _ connections: Connections, into actions: inout [GatewayAction]
    ) {
        for room in self.streams.rooms(in: shards) {
            self.streams.fanoutMoved(room)
            self.ask(for: room, connections, into: &actions)
        }
        guard hadOwner else { return }
        // It would serve them for ever for members here, and the room would have two orders of previews.
        for room in connections.rooms() where shards.contains(Shard.of(room: room)) {
            let nobody = RoomInterest(room: room, position: Position(epoch: "", seq: 0), occupants: [])
            actions.append(.formerFanout(shard: Shard.of(room: room), .interest(nobody)))
        }
    }

    /// Does what follows from a change of a room's stream.
    private mutating func follow(
        _ outcome: RoomStreams.Outcome, in room: Identifier, _ connections: Connections,
        into actions: inout [GatewayAction]
    ) {
        switch outcome {
        case .unchanged, .delivered: break
        case .missing: self.ask(for: room, connections, into: &actions)
        case .reset:
            _ = self.pacer.removeWaiting(of: room)
            self.delivery.viewports.reset(room)
            self.forgetIfEmpty(room, into: &actions)
        }
    }

    /// True while a fan-out has not answered what is missing in a room's stream.
    var hasQuestions: Bool { !self.questions.isEmpty }

    /// Time has passed: what a fan-out does not answer is asked again.
    mutating func repeatQuestions(at now: Instant, _ connections: Connections, into actions: inout [GatewayAction]) {
        for room in self.questions.timeReached(now, where: self.streams.isCatchingUp) {
            self.ask(for: room, connections, into: &actions)
        }
    }

    /// Asks the fan-out for what is missing in a room's stream.
    private mutating func ask(for room: Identifier, _ connections: Connections, into actions: inout [GatewayAction]) {
        let hasViewports = self.delivery.viewports.contains(room)
        self.questions.ask(for: room, self.streams, connections, hasViewports: hasViewports, into: &actions)
    }

    // MARK: Viewports

    /// A member sees a part of a room's canvas only from now on, or everything again if `viewport` is nil. What moves there
    /// is shown immediately, or a moment later if the member's last viewport was just shown.
    mutating func viewportSet(
        _ viewport: PreviewArea?, of slot: Slot, in room: Identifier, _ connections: Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        self.delivery.complete(room, into: &actions)
        let wasFollowed = self.delivery.viewports.contains(room)
        let entering = self.delivery.viewports.set(viewport, for: slot, in: room, at: now)
        if !wasFollowed, self.delivery.viewports.contains(room) {
            Self.askForAreas(of: room, into: &actions)
        }
        self.showEntering(entering, to: slot, in: room, connections, into: &actions)
    }

    /// Shows a member what has come into its view.
    private func showEntering(
        _ shown: RoomShow, to slot: Slot, in room: Identifier, _ connections: Connections,
        into actions: inout [GatewayAction]
    ) {
        guard !shown.isEmpty, self.streams.previewMembers(of: room).contains(slot) else { return }
        var texts = PreviewText.texts(of: shown) { connections.slot(of: $0) }.filter { $0.sender != slot }
        if self.streams.isV1(slot, in: room) { texts = V1Translator.previews(texts) }
        if !texts.isEmpty { actions.append(.previews([slot], texts)) }
    }

    private static func askForAreas(of room: Identifier, into actions: inout [GatewayAction]) {
        actions.append(.fanout(of: room, .areaInterest(AreaInterest(room: room))))
    }

    // MARK: Previews of members

    /// Sends a member's preview on when its room's interval allows it.
    mutating func send(_ preview: Preview, at now: Instant, into actions: inout [GatewayAction]) {
        self.ages.sent(preview, at: now)
        if !self.pacer.sendsImmediately, self.pacer.keepsBack(preview, at: now) { return }
        self.forward(preview, into: &actions)
    }

    private mutating func forward(_ preview: Preview, into actions: inout [GatewayAction]) {
        self.previewsSentTotal += 1
        actions.append(.preview(shard: Shard.of(room: preview.room), preview))
    }

    /// Sends what a member shows of its person, unless that of the same part was sent a moment ago: then it waits.
    mutating func send(_ awareness: Awareness, at now: Instant, into actions: inout [GatewayAction]) {
        if self.awarenessPacer.send(awareness, at: now) {
            actions.append(.fanout(of: awareness.room, .awareness(awareness)))
        }
    }

    private mutating func sendAwareness(at now: Instant, into actions: inout [GatewayAction]) {
        while let awareness = self.awarenessPacer.nextDue(at: now, intervals: self.pacer.intervals) {
            actions.append(.fanout(of: awareness.room, .awareness(awareness)))
        }
    }

    // MARK: Previews for members

    /// A turn of the event loop begins: the number of members that previews may be delivered to in it is reset. Other
    /// rooms have their turn when an unfinished delivery is done.
    package mutating func turnBegan() {
        self.delivery.viewports.turnBegan()
        if !self.delivery.isUnfinished { self.pacer.turnBegan() }
    }

    /// When previews, awareness or viewports are due, or intervals to be reviewed.
    mutating func nextDeadline() -> Instant? {
        let previews = self.delivery.nextDeadline ?? self.pacer.nextDeadline()
        let others = [self.delivery.viewports.nextDeadline, self.awarenessPacer.nextDeadline].compactMap { $0 }
        guard let other = others.min() else { return previews }
        return min(previews ?? .never, other)
    }

    /// Previews came from the fan-out; those of one room stand together.
    mutating func previewsReceived(
        _ previews: [Preview], lateness: Nanoseconds, _ connections: Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        for (room, previews) in previews.byRoom where !self.streams.awaitsFanout(room) {
            self.take(RoomShow(previews: previews), of: room, lateness: lateness, connections, at: now, into: &actions)
        }
        self.reviewIntervals(at: now, into: &actions)
    }

    /// Awareness came from the fan-out; that of one room stands together.
    mutating func awarenessReceived(
        _ awareness: [Awareness], lateness: Nanoseconds, _ connections: Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        for (room, awareness) in awareness.byRoom where !self.streams.awaitsFanout(room) {
            self.take(awareness, of: room, lateness: lateness, connections, at: now, into: &actions)
        }
        self.reviewIntervals(at: now, into: &actions)
    }

    private mutating func take(
        _ shown: RoomShow, of room: Identifier, lateness: Nanoseconds, _ connections: Connections,
        at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard !self.streams.previewMembers(of: room).isEmpty, !shown.isEmpty else { return }
        if !self.pacer.keepsBack(shown, of: room, at: now) {
            self.deliver(shown, of: room, lateness: lateness, connections, at: now, into: &actions)
        }
    }

    private mutating func take(
        _ awareness: ArraySlice<Awareness>, of room: Identifier, lateness: Nanoseconds, _ connections: Connections,
        at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard self.streams.position(of: room) != nil else { return }
        for awareness in awareness {
            self.awareness.note(awareness)
            if awareness.value.part != .cursor || awareness.value.isNothing { self.streams.awarenessShifted(in: room) }
        }
        // Selections are rare, and show what a commit will be about: they do not wait for the room's interval.
        let selections = RoomShow(awareness: awareness.filter { $0.value.part == .selection }[...])
        self.deliver(selections, of: room, lateness: lateness, connections, at: now, into: &actions)
        let paced = RoomShow(awareness: awareness.filter { $0.value.part != .selection }[...])
        self.take(paced, of: room, lateness: lateness, connections, at: now, into: &actions)
    }

    /// Time has passed: previews, awareness and viewports that are due go as far as this turn allows, and intervals are reviewed.
    mutating func timeReached(_ now: Instant, _ connections: Connections, into actions: inout [GatewayAction]) {
        self.delivery.resume(into: &actions)
        while let due = self.pacer.nextDue(at: now) {
            self.deliver(due.shown, of: due.room, lateness: due.lateness, connections, at: now, into: &actions)
        }
        while let unsent = self.pacer.nextUnsent(at: now) {
            for preview in unsent { self.forward(preview, into: &actions) }
        }
        self.sendAwareness(at: now, into: &actions)
        while let entrance = self.delivery.viewports.nextEntrance(at: now) {
            self.delivery.complete(entrance.room, into: &actions)
            self.showEntering(entrance.shown, to: entrance.slot, in: entrance.room, connections, into: &actions)
        }
        self.reviewIntervals(at: now, into: &actions)
    }

    /// Delivers previews and awareness of one room, whatever its interval.
    private mutating func deliver(
        _ shown: RoomShow, of room: Identifier, lateness: Nanoseconds, _ connections: Connections,
        at now: Instant, into actions: inout [GatewayAction]
    ) {
        let members = self.streams.previewMembers(of: room)
        guard !shown.isEmpty, !members.isEmpty else { return }
        self.ages.delivered(shown.previews, at: now)
        let deliveries = self.delivery.deliver(
            shown, of: room, to: self.streams, connections, at: now, into: &actions)
        self.pacer.delivered(deliveries, of: room, to: members.count, lateness: lateness, at: now)
    }

    private mutating func reviewIntervals(at now: Instant, into actions: inout [GatewayAction]) {
        for room in self.pacer.review(at: now) {
            self.streams.intervalChanged(of: room, to: self.pacer.requestedInterval(in: room), into: &actions)
        }
    }
}
