import Canvas
import HistoryChecker
import JSONBytes
import TouchSyncClientCore
import Wire

/// An app whose behaviour is the core of the client in Swift. This is the shell around it: the socket and the clock, the
/// disk, requests over HTTP, and the life of an app, which ends and begins again.
///
///     user ──► core ⇄ wire ⇄ gateway
///               │ └──► screen
///               ▼
///              disk
final class ClientApp: SimulatedApp {
    let witness: RoomWitness
    let wire: ClientWire
    let screen: ClientScreen
    let user: ClientUser
    var disk = ClientDisk()
    /// The latest save, and the latest one that the disk has.
    var lastSave = 0, savedUpTo = 0
    /// Saves that packets wait for, and these.
    var saves: Set<Int> = []
    var held: [String] = []
    /// What happens to the present run, if it is to be written down.
    var transcript: ClientTranscript?
    /// The present run of the app; nil while it does not run.
    private(set) var core: ClientCore?
    /// Raised by every start and every end of a run.
    private(set) var run = 0
    var connection: AppConnection?
    /// False while the device has no network.
    private(set) var hasNetwork = true
    /// What happens to the app while it is suspended, in its order; nil while it is not.
    private var backlog: [() -> Void]?
    /// When the timer fires, ms; nil without one.
    private var timerAt: Int64?
    var isBusy = true
    let mistakes: ClientMistakes

    init(_ number: Int, room: String, in world: World) {
        self.witness = RoomWitness("client\(number + 1)", room: room, in: world)
        self.wire = ClientWire(self.witness)
        self.screen = ClientScreen(self.witness)
        self.user = ClientUser()
        self.mistakes = ClientMistakes(mutant: world.plan.mutant)
        self.clockOrigin = Int64(number + 1) * 7_777_777
    }

    var sid: String { self.wire.sid }
    var shown: [String: String] { self.wire.shown }

    var members: Set<String> { Set(self.core?.members(in: self.room).map(\.userId) ?? []) }
    var seen: [String: [String: String]] { self.witness.seen }
    var cursors: Set<String> { self.witness.cursors }
    var takesBatches: Bool { true }

    /// What the app's clock tells when the world's is at 0, ms: it counts from another time than the servers' clocks.
    private let clockOrigin: Int64
    /// The time as the app tells it, ms; and with fractions.
    var now: Int64 { Int64(self.world.now / .millisecond) + self.clockOrigin }
    var exactTime: Double { Double(self.world.now) / 1e6 + Double(self.clockOrigin) }

    /// All elements as they lie on each other, the lowest first.
    func elementsShown() -> [Element] { self.core?.elements(in: self.room) ?? [] }

    /// Draws everything.
    /// - Returns: the elements that move.
    func draw() -> [String] {
        self.core?.drawing(of: nil, in: self.room, at: self.exactTime).moving ?? []
    }

    func isSettled(at seq: UInt64) -> Bool {
        guard let core, core.state == .live, self.backlog == nil, self.hasNetwork else { return false }
        return !self.isBusy && core.pendingEdits(in: self.room) == 0 && core.seq(of: self.room) == seq
            && self.wire.isSettled && self.user.fingers == nil
    }

    // MARK: Runs

    /// The app starts, with what an earlier run has saved.
    func connect() {
        guard self.core == nil else { return }
        if self.disk.hasSentEdits { self.world.count("clients.restarts-in-doubt") }
        self.run += 1
        self.core = ClientCore(options: ClientOptions())
        if self.world.plan.isTranscribed { self.transcript = ClientTranscript() }
        self.openRoom()
        self.input(.connect)
        self.user.begin(self)
        self.lookLater()
    }

    /// What moves is looked at now and then.
    private func lookLater() {
        self.after(self.world.random.number(20...400) * .millisecond) { [weak self] in
            guard let self else { return }
            self.screen.look(self)
            if let preview = self.mistakes.preview(of: self.screen.moving.keys.sorted(), in: self.room) {
                self.send(preview)
            }
            self.lookLater()
        }
    }

    /// Enters the room, with what was saved of it.
    func openRoom() {
        let record = self.mistakes.loses(self.disk.text) ? nil : self.disk.record
        self.wire.runBegan(isNew: record == nil)
        self.screen.runBegan()
        self.input(.room(self.room, .join(record: record)))
    }

    /// The app ends without notice; the gateway notices in its own time.
    func kill() {
        guard self.core != nil else { return }
        self.world.note("kill \(self.name)")
        self.keepTranscript()
        self.run += 1
        self.core = nil
        self.saves = []
        self.timerAt = nil
        self.backlog = nil
        self.user.runEnded()
        self.dropConnection(within: 1500 * .millisecond)
    }

    /// The run is over.
    func keepTranscript() {
        guard let transcript else { return }
        self.world.transcripts["\(self.name)-\(self.run)"] = transcript.lines
        self.transcript = nil
    }

    // MARK: Inputs

    /// Gives the core an input, and does what it wants done.
    func input(_ input: ClientInput) {
        let drawn = Double(self.world.random.next() >> 11) / 0x1p53
        let chance = self.transcript == nil ? drawn : ClientTranscript.random
        self.transcript?.append(input, at: self.now)
        guard let outputs = self.core?.input(input, at: self.now, random: chance) else { return }
        for output in outputs { self.perform(output) }
        self.armTimer()
    }

    /// What happens from outside happens to the app when it is not suspended.
    private func happen(_ event: @escaping () -> Void) {
        if self.backlog == nil { event() } else { self.backlog?.append(event) }
    }

    /// Runs something later, unless the app has ended by then.
    func after(_ time: UInt64, _ event: @escaping () -> Void) {
        let run = self.run
        self.world.after(time) { [weak self] in
            self?.happen { if self?.run == run { event() } }
        }
    }

    private func armTimer() {
        guard let deadline = self.core?.deadline else {
            self.timerAt = nil
            return
        }
        if let timerAt, timerAt <= deadline { return }
        self.timerAt = deadline
        let run = self.run
        self.world.at(UInt64(max(deadline, self.now) - self.clockOrigin) * .millisecond) { [weak self] in
            guard let self, self.run == run, self.timerAt == deadline else { return }
            self.happen { self.timerFired(run) }
        }
    }

    private func timerFired(_ run: Int) {
        guard self.run == run else { return }
        self.timerAt = nil
        guard let deadline = self.core?.deadline else { return }
        guard deadline <= self.now else { return self.armTimer() }
        self.input(.timeReached)
        guard let next = self.core?.deadline, next <= self.now else { return }
        // A deadline that time does not move would keep a device awake for ever.
        self.world.count("clients.stuck-deadlines")
        self.kill()
    }

    // MARK: The device

    /// The app goes to the background, where it is suspended for a while.
    func hide(for time: UInt64) {
        // Nothing is late in a transcript.
        guard self.core != nil, self.backlog == nil, self.transcript == nil else { return }
        let run = self.run
        self.input(.backgrounded)
        self.backlog = []
        self.world.after(time) { [weak self] in
            guard let self, self.run == run, let events = self.backlog else { return }
            self.backlog = nil
            for event in events { event() }
            if self.run == run { self.input(.foregrounded) }
        }
    }

    /// The device has no network for a while.
    func loseNetwork(for time: UInt64) {
        guard self.hasNetwork else { return }
        self.hasNetwork = false
        if let connection { self.world.sever(connection) }
        self.world.after(time) { [weak self] in
            guard let self else { return }
            self.hasNetwork = true
            self.networkReturned()
        }
    }

    /// The device says that its network is back.
    func networkReturned() {
        self.happen { self.input(.networkReturned) }
    }

    // MARK: Connections

    func received(_ message: AppMessage, _ text: AppText) {
        let connection = self.connection
        self.happen {
            guard let connection, connection === self.connection else { return }
            self.wire.received(message, text)
            if case .opened = message { self.input(.opened) }
            let packet = self.mistakes.altered(
                ClientPackets.text(of: message, text), at: self.core?.serverTime(at: self.exactTime))
            self.world.note("\(self.name) receives \(packet)")
            self.input(.packetReceived(packet))
        }
    }

    func cutOff() {
        let connection = self.connection
        self.happen {
            guard let connection, connection === self.connection else { return }
            self.connection = nil
            self.held = []
            self.wire.disconnected()
            self.input(.closed(nil))
        }
    }

    /// The connection is over for this app; the gateway learns that within a time.
    func dropConnection(within time: UInt64) {
        guard let connection else { return }
        self.connection = nil
        self.held = []
        connection.isOpen = false
        self.wire.disconnected()
        self.world.after(time == 0 ? 0 : self.world.random.number(0...time)) { [weak self] in
            self?.world.tell(connection, .gone)
        }
    }

    // MARK: The last scene

    /// It looks on.
    func prepareScene() {
        if self.world.random.place(2) == 0 { self.user.look(self) }
    }

    func playScene() {}
}
