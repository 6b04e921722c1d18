package import Auth
package import GatewayCore
package import Mesh
package import Stages
package import Timing
package import Wire

/// What a gateway's core stands between: the connections of its apps, and the links to the stages behind.
package protocol GatewayTransport: AnyObject {
    /// The present moment.
    var moment: Instant { get }
    /// Seconds since 1970, for tokens and new ids.
    var seconds: Double { get }
    /// How long what the links bring at a moment has waited.
    func lateness(at moment: Instant) -> Nanoseconds
    /// False when previews have had their turn in this pass of the thread.
    func takePreviewTurn() -> Bool
    /// Does what is for apps, but for what has a method of its own.
    /// - Returns: what is for stages.
    func perform(_ action: GatewayAction) -> GatewayAction?
    /// Sends an event to many apps.
    /// - Returns: those that get it no more, because too much waits for them.
    func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) -> [Slot]
    /// Closes a connection immediately.
    /// - Parameter slot: of its app, if that has not gone.
    func shed(_ debtor: AnswerBudget.Debtor, in slot: Slot?)
    /// Runs what sends to many apps, and flushes their connections once.
    func flushing(_ body: () -> Void)
    func send(_ envelope: EnvelopeWriter, to instance: StageInstance) -> SendResult
    /// Bytes that a connection still holds; 0 once nothing is left of it.
    /// - Parameter slot: of its app, if that has not gone.
    func unreadBytes(of connection: UInt64, in slot: Slot?) -> Int
    /// An app has gone.
    /// - Parameter owesAnswers: it has not read all of its answers.
    func gone(_ slot: Slot, connection: UInt64, owesAnswers: Bool)
}

/// Runs a gateway's core between its apps and its links, in one order for the daemon and the simulation. What apps, clocks and
/// links bring goes into the core immediately. What the core wants done waits for the end of a turn, which handles many events.
///
///     app's event ──► core                                  ┌─► apps
///     clock ────────► core ──► actions ···· turn ends ──► perform
///     link's event ─► core                                  └─► outboxes ··· flush ──► stages
package final class GatewayShell<Transport: GatewayTransport> {
    package let stage: GatewayStage
    package let transport: Transport
    /// The moment of the first event of the links in this turn.
    private var arrivalsAt: Instant?
    /// When ``timeReached(at:)`` is due.
    package private(set) var timerAt = Instant.never
    /// When ``previewTimeReached(at:)`` is due.
    package private(set) var previewsAt = Instant.never
    /// Previews that are due already let what came in the meantime go first: what apps sent, and results.
    package static var breath: Nanoseconds { .microseconds(50) }

    package init(_ stage: GatewayStage, over transport: Transport) {
        self.stage = stage
        self.transport = transport
    }

    // MARK: Apps

    /// An app came in.
    package func connected(identity: Identity, handshake: HandshakeFields, at moment: Instant) -> Slot {
        // What still waits to be done for another app that had the slot before.
        self.perform()
        return self.stage.core.connected(
            identity: identity, handshake: handshake, at: moment.wholeMilliseconds, into: &self.stage.actions.pending)
    }

    /// A subscriber wants a room's numbered stream.
    /// - Parameter place: behind which it wants the updates, `epoch:seq`; nil: first the whole room.
    package func subscribed(
        to room: String, after place: String?, as identity: Identity, at moment: Instant
    ) throws(Refusal) -> Slot {
        self.perform()
        return try self.stage.core.subscribed(
            to: room, after: place, as: identity, at: moment.wholeMilliseconds, into: &self.stage.actions.pending)
    }

    /// An app sent an event.
    /// - Parameter isBinary: attachments belong to it, which are thrown away.
    /// - Returns: false when it was no event at all.
    package func eventReceived(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, isBinary: Bool = false, at moment: Instant
    ) -> Bool {
        self.stage.core.eventReceived(
            json, ackID: ackID, from: slot, isBinary: isBinary, at: moment.wholeMilliseconds,
            seconds: self.transport.seconds, into: &self.stage.actions.pending)
    }

    /// An app was sent the last part of a room.
    package func snapshotRead(of room: Identifier, by slot: Slot) {
        self.stage.core.snapshotRead(of: room, by: slot, into: &self.stage.actions.pending)
    }

    /// An app went away.
    package func disconnected(_ slot: Slot, at moment: Instant) {
        let connection = self.stage.core.connectionID(in: slot)
        self.stage.core.disconnected(slot, at: moment.wholeMilliseconds, into: &self.stage.actions.pending)
        // The slot may soon be another app's.
        let owed = self.stage.core.joins.answers.owed(by: .app(connection))
        self.transport.gone(slot, connection: connection, owesAnswers: owed > 0)
    }

    /// Hears how much of their answers apps have not read.
    package func reviewAnswers(of debtors: [AnswerBudget.Debtor], at moment: Instant) {
        for case .app(let connection) in debtors {
            let bytes = self.transport.unreadBytes(of: connection, in: self.stage.core.slot(of: connection))
            self.stage.core.answersTaken(
                by: .app(connection), holding: bytes, at: moment.wholeMilliseconds, into: &self.stage.actions.pending)
        }
    }

    // MARK: HTTP

    /// A request came over HTTP.
    /// - Returns: the number of its answer.
    package func requestReceived(_ request: AppRequest, as identity: Identity, at moment: Instant) -> UInt64 {
        self.stage.core.requestReceived(
            request, as: identity, at: moment.wholeMilliseconds, seconds: self.transport.seconds,
            into: &self.stage.actions.pending)
    }

    /// The client of a read has the answer, or is gone.
    package func answerRead(_ request: UInt64, at moment: Instant) {
        self.stage.core.answerRead(request, at: moment.wholeMilliseconds, into: &self.stage.actions.pending)
    }

    // MARK: Links

    /// Something happened on a link, in a turn.
    package func linkChanged(_ event: StageLinks.Event, of stage: Stage) {
        let now = self.arrivalsAt ?? self.beginArrivals()
        self.stage.linkChanged(event, of: stage, at: now, seconds: self.transport.seconds) { self.performed($0) }
    }

    private func beginArrivals() -> Instant {
        let moment = self.transport.moment
        self.stage.lateness = self.transport.lateness(at: moment)
        self.beginPreviewTurn()
        let now = moment.wholeMilliseconds
        self.arrivalsAt = now
        return now
    }

    private func endArrivals() {
        guard let now = exchange(&self.arrivalsAt, with: nil) else { return }
        self.stage.arrivalsEnded(at: now)
        self.transport.flushing {
            self.perform()
            self.stage.sendHeld(at: now) { self.performed($0) }
        }
    }

    // MARK: Time

    /// What waits for the clock is due.
    package func timeReached(at moment: Instant) {
        self.timerAt = .never
        if self.stage.core.joins.answers.waitingCount > 0 {
            self.reviewAnswers(of: self.stage.core.joins.answers.debtors, at: moment)
        }
        self.stage.core.timeReached(
            moment.wholeMilliseconds, seconds: self.transport.seconds, into: &self.stage.actions.pending)
        self.settle()
    }

    /// Previews that wait for their pace or turn are due; a turn follows.
    package func previewTimeReached(at moment: Instant) {
        self.previewsAt = .never
        guard self.beginPreviewTurn() else { return }
        self.stage.core.previewTimeReached(moment.wholeMilliseconds, into: &self.stage.actions.pending)
    }

    /// Previews may be delivered to as many members as in a turn, unless they were in this pass of the thread.
    /// - Returns: false when they were.
    @discardableResult
    private func beginPreviewTurn() -> Bool {
        guard self.transport.takePreviewTurn() else { return false }
        self.stage.core.turnBegan()
        return true
    }

    // MARK: Tokens

    /// Other keys or revocations are in force.
    package func tokensChanged(_ tokens: TokenVerifier) {
        self.stage.core.tokensChanged(tokens, into: &self.stage.actions.pending)
        self.settle()
    }

    /// Looks at the tokens' ends.
    package func checkTokens() {
        self.stage.core.checkTokens(at: Int64(self.transport.seconds), into: &self.stage.actions.pending)
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
        let fresh = self.stage.core.takeFreshDebtors()
        if !fresh.isEmpty {
            self.reviewAnswers(of: fresh, at: moment)
            self.transport.flushing { self.perform() }
        }
        // To the nanosecond: their pause may be a fraction of a millisecond, and the timer would ring until it is over.
        self.stage.routes.flush(at: moment) { self.transport.send($0, to: $1) }
        let deadline = self.stage.core.nextDeadline?.roundedUpToMilliseconds ?? .never
        self.timerAt = min(self.timerAt, deadline, self.stage.routes.nextDeadline ?? .never)
        let previews = self.stage.core.nextPreviewDeadline()?.roundedUpToMilliseconds ?? .never
        self.previewsAt = min(self.previewsAt, previews)
    }

    /// Apps are about to be closed: no more commits are accepted from them.
    package func startLeaving(_ slots: [Slot]) {
        for slot in slots { self.stage.core.startLeaving(slot, into: &self.stage.actions.pending) }
        self.perform()
    }

    /// Does what the core wants done now.
    private func perform() { self.stage.perform { self.performed($0) } }

    private func performed(_ action: GatewayAction) -> GatewayAction? {
        switch action {
        case .broadcast(let slots, let json, let step):
            let behind = self.transport.broadcast(json, to: slots, step: step)
            if let step, let seq = step.seq, !behind.isEmpty {
                self.stage.core.fellBehind(behind, in: step.room, at: seq, into: &self.stage.actions.pending)
            }
        case .shed(let debtor):
            var slot: Slot?
            if case .app(let connection) = debtor { slot = self.stage.core.slot(of: connection) }
            self.transport.shed(debtor, in: slot)
        default: return self.transport.perform(action)
        }
        return nil
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
