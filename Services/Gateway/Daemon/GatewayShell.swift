package import Auth
package import GatewayCore
package import Stages
package import Timing
package import Wire

/// Runs a gateway's core between its apps and its links, in one order for the daemon and the simulation. What apps, clocks and
/// links bring goes into the core immediately. What the core wants done waits for the end of a turn, which handles many events.
///
///     app's event ──► core                                  ┌─► apps
///     clock ────────► core ──► actions ···· turn ends ──► perform
///     link's event ─► core                                  └─► outboxes ··· flush ──► stages
package final class GatewayShell<Transport: GatewayTransport> {
    /// Decides.
    package var core: Gateway
    /// What it wants done.
    package var actions = ActionBuffer<GatewayAction>()
    package let transport: Transport
    /// True while actions are performed: what leads to more meanwhile must come after them.
    package private(set) var isPerforming = false
    private var arrivals = MeshArrivals()
    private let intake: EnvelopeIntake
    /// The moment of the first event of the links in this turn.
    private var arrivalsAt: Instant?
    /// When ``timeReached(at:)`` is due.
    package private(set) var timerAt = Instant.never
    /// When ``previewTimeReached(at:)`` is due.
    package private(set) var previewsAt = Instant.never
    /// Previews that are due already let what came in the meantime go first: what apps sent, and results.
    package static var breath: Nanoseconds { .microseconds(50) }

    /// - Parameter intake: reads envelopes, and counts those that are malformed or come from the wrong sender.
    package init(_ core: Gateway, over transport: Transport, intake: EnvelopeIntake) {
        self.core = core
        self.transport = transport
        self.intake = intake
    }

    // MARK: Apps

    /// An app came in.
    package func connected(identity: Identity, handshake: HandshakeFields, at moment: Instant) -> Slot {
        // What still waits to be done for another app that had the slot before.
        self.perform()
        return self.core.connected(
            identity: identity, handshake: handshake, at: moment.wholeMilliseconds, into: &self.actions.pending)
    }

    /// A subscriber wants a room's numbered stream.
    /// - Parameter place: behind which it wants the updates, `epoch:seq`; nil: first the whole room.
    package func subscribed(
        to room: String, after place: String?, as identity: Identity, at moment: Instant
    ) throws(Refusal) -> Slot {
        self.perform()
        return try self.core.subscribed(
            to: room, after: place, as: identity, at: moment.wholeMilliseconds, into: &self.actions.pending)
    }

    /// An app sent an event.
    /// - Parameter isBinary: attachments belong to it, which are thrown away.
    /// - Returns: false when it was no event at all.
    package func eventReceived(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, isBinary: Bool = false, at moment: Instant
    ) -> Bool {
        self.core.eventReceived(
            json, ackID: ackID, from: slot, isBinary: isBinary, at: moment.wholeMilliseconds,
            seconds: self.transport.seconds, into: &self.actions.pending)
    }

    /// An app was sent the last part of a room.
    package func snapshotRead(of room: Identifier, by slot: Slot) {
        self.core.relay.rooms.snapshotRead(of: room, by: slot, into: &self.actions.pending)
    }

    /// An app went away.
    package func disconnected(_ slot: Slot, at moment: Instant) {
        let connection = self.core.relay.connections.id(in: slot)
        self.core.disconnected(slot, at: moment.wholeMilliseconds, into: &self.actions.pending)
        // The slot may soon be another app's.
        let owed = self.core.joins.answers.owed(by: .app(connection))
        self.transport.gone(slot, connection: connection, owesAnswers: owed > 0)
    }

    /// Hears how much of their answers apps have not read.
    package func reviewAnswers(of debtors: [AnswerBudget.Debtor], at moment: Instant) {
        for case .app(let connection) in debtors {
            let bytes = self.transport.unreadBytes(of: connection, in: self.core.relay.connections.slot(of: connection))
            self.core.answersTaken(
                by: .app(connection), holding: bytes, at: moment.wholeMilliseconds, into: &self.actions.pending)
        }
    }

    // MARK: HTTP

    /// A request came over HTTP.
    /// - Returns: the number of its answer.
    package func requestReceived(_ request: AppRequest, as identity: Identity, at moment: Instant) -> UInt64 {
        self.core.requestReceived(
            request, as: identity, at: moment.wholeMilliseconds, seconds: self.transport.seconds,
            into: &self.actions.pending)
    }

    /// The client of a read has the answer, or is gone.
    package func answerRead(_ request: UInt64, at moment: Instant) {
        self.core.answerRead(request, at: moment.wholeMilliseconds, into: &self.actions.pending)
    }

    // MARK: Links

    /// Something happened on a link, in a turn.
    package func linkChanged(_ event: StageLinks.Event, of stage: Stage) {
        let now = self.arrivalsAt ?? self.beginArrivals()
        switch event {
        case .envelope(let instance, let bytes):
            self.arrivals.receive(
                bytes, from: StageInstance(stage, instance), self.transport.routes.fanouts.owners, self.intake, at: now,
                seconds: self.transport.seconds, to: &self.core, into: &self.actions.pending
            ) { self.transport.routes.allow($0, of: instance) }
        case .added, .removed, .up, .down, .resting, .writable:
            // What was decided before goes to those who had the shards: who leaves a room must not leave it elsewhere.
            self.perform()
            let change = self.transport.routes.follow(event, of: stage)
            self.core.shardsMoved(change, of: stage, at: now, into: &self.actions.pending)
            self.perform()
        }
    }

    private func beginArrivals() -> Instant {
        let moment = self.transport.moment
        self.arrivals.lateness = self.transport.lateness(at: moment)
        self.beginPreviewTurn()
        let now = moment.wholeMilliseconds
        self.arrivalsAt = now
        return now
    }

    /// All that came in a turn was read: its previews go to the core, and commits that wait for credit leave.
    private func endArrivals() {
        guard let now = exchange(&self.arrivalsAt, with: nil) else { return }
        self.arrivals.deliver(at: now, to: &self.core, into: &self.actions.pending)
        self.transport.flushing {
            self.perform()
            var shard: Int?
            repeat {
                shard = self.core.commits.inFlight.sendNextHeld(after: shard, at: now, into: &self.actions.pending) {
                    self.transport.routes.acceptsCommit(of: $0)
                }
                self.perform()
            } while shard != nil
        }
    }

    // MARK: Time

    /// What waits for the clock is due.
    package func timeReached(at moment: Instant) {
        self.timerAt = .never
        if self.core.joins.answers.waitingCount > 0 {
            self.reviewAnswers(of: self.core.joins.answers.debtors, at: moment)
        }
        self.core.timeReached(
            moment.wholeMilliseconds, seconds: self.transport.seconds, into: &self.actions.pending)
        self.settle()
    }

    /// Previews that wait for their interval or turn are due; a turn follows.
    package func previewTimeReached(at moment: Instant) {
        self.previewsAt = .never
        guard self.beginPreviewTurn() else { return }
        self.core.relay.timeReached(moment.wholeMilliseconds, into: &self.actions.pending)
    }

    /// Previews may be delivered to as many members as in a turn, unless they were in this pass of the thread.
    /// - Returns: false when they were.
    @discardableResult
    private func beginPreviewTurn() -> Bool {
        guard self.transport.takePreviewTurn() else { return false }
        self.core.relay.rooms.turnBegan()
        return true
    }

    /// Previews wait for each other: first those of all rooms, for the next envelope to a coalescer, then those of each room,
    /// for the next write to its members. The former saves the wake-ups on the way, which are most of what previews cost while
    /// there are few; the latter saves writes, and costs far more age.
    ///
    ///     share                0 ────────── half ────────── 1
    ///     between envelopes    none ─rises─► longest ───────►
    ///     between writes       none ────────► none ─rises─► longest
    package func previewsWait(_ share: Double) {
        self.transport.routes.pause(min(2 * share, 1))
        self.core.relay.rooms.previewsWait(max(2 * share - 1, 0))
    }

    // MARK: Tokens

    /// Other keys or revocations are in force.
    package func tokensChanged(_ tokens: TokenVerifier) {
        self.core.tokensChanged(tokens, into: &self.actions.pending)
        self.settle()
    }

    /// Looks at the tokens' ends.
    package func checkTokens() {
        self.core.checkTokens(at: Int64(self.transport.seconds), into: &self.actions.pending)
        self.settle()
    }

    // MARK: Turns

    /// Handles what came.
    /// - Parameter readLinks: tells ``linkChanged(_:of:)`` of what the links have.
    package func turn(_ readLinks: () -> Void) {
        readLinks()
        self.endArrivals()
        self.settle()
    }

    /// Performs what the core wants done, sends what may leave, and sets the clocks.
    package func settle() {
        self.transport.flushing { self.perform() }
        let moment = self.transport.moment
        let fresh = self.core.takeFreshDebtors()
        if !fresh.isEmpty {
            self.reviewAnswers(of: fresh, at: moment)
            self.transport.flushing { self.perform() }
        }
        // To the nanosecond: their pause may be a fraction of a millisecond, and the timer would ring until it is over.
        self.transport.routes.flush(at: moment) { self.transport.send($0, to: $1) }
        let deadline = self.core.nextDeadline?.roundedUpToMilliseconds ?? .never
        self.timerAt = min(self.timerAt, deadline, self.transport.routes.nextDeadline ?? .never)
        let previews = self.core.relay.nextDeadline()?.roundedUpToMilliseconds ?? .never
        self.previewsAt = min(self.previewsAt, previews)
    }

    /// Apps are about to be closed: no more commits are accepted from them.
    package func startLeaving(_ slots: [Slot]) {
        for slot in slots { self.core.startLeaving(slot, into: &self.actions.pending) }
        self.perform()
    }

    /// Does what the core wants done, in order. What is done may lead to more.
    private func perform() {
        let wasPerforming = exchange(&self.isPerforming, with: true)
        defer { self.isPerforming = wasPerforming }
        while let actions = self.actions.take() {
            for action in actions {
                switch self.transport.perform(action) {
                case .update(let slots, let room, let seq):
                    self.core.relay.rooms.fellBehind(slots, in: room, at: seq, into: &self.actions.pending)
                case .commit(let commit): self.core.commits.inFlight.commitNotSent(commit)
                case nil: break
                }
            }
            self.actions.giveBack(actions)
        }
    }
}

extension Instant {
    /// The moment in whole milliseconds, as the core hears of it: deadlines that are set in the same millisecond come due
    /// together.
    var wholeMilliseconds: Instant { Instant(nanoseconds: self.nanoseconds - self.nanoseconds % 1_000_000) }

    /// The first whole millisecond from this moment on: when a clock of whole milliseconds has reached it.
    var roundedUpToMilliseconds: Instant {
        let (whole, rest) = self.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest == 0 || self == .never ? self : .start + .milliseconds(whole + 1)
    }
}
