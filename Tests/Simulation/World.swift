import DatabaseTestKit
package import HistoryChecker
import Logging
import Stages
import Timing
import Wire

/// All four stages with their real cores, apps, the network and a model of the database, in one thread and one time.
///
///     apps ⇄ gateways ──previews──► coalescers ──► fan-outs ──► gateways ⇄ apps
///               └───────commits───► committers ──► fan-outs
///                                        └──► database model ◄── fan-outs
///
/// Everything that is not a core is drawn from one seeded generator: how long an envelope travels, when a daemon gets
/// to run, what fails and when. Nothing else happens between two events of the queue.
package final class World {
    let plan: Plan
    /// Virtual time, ns.
    private(set) var now: UInt64 = 1000 * .millisecond
    var random: SplitMix64
    private var queue = EventQueue()

    private(set) var processes: [Process] = []
    private(set) var links: [Link] = []
    private(set) var apps: [any SimulatedApp] = []
    /// Those of them that are clients.
    var clients: [ClientApp] { self.apps.compactMap { $0 as? ClientApp } }
    /// What is added to the numbers of a session's gestures in the history, by `sid`.
    var gestureShifts: [String: UInt64] = [:]
    let database = DatabaseServer()
    /// What was observed.
    package private(set) var history: [HistoryRecord] = []
    var counts: [String: Int64] = [:]
    /// What happened to each run of a client, if the plan wants to know, by its name.
    package var transcripts: [String: [String]] = [:]
    /// Says what happens, when somebody wants to know.
    package var trace: ((String) -> Void)?
    /// When the last fault has ended; grows while faults begin.
    var healAt: UInt64 = 0
    /// Faults that wait for the next transaction of a committer to be under way.
    var ambushes: [(DatabaseConnection) -> Void] = []
    private var isOver = false
    /// True while the silence and the last scene are still to come.
    private var awaitsSilence: Bool
    private var awaitsScene: Bool
    /// The messages that have passed since nobody does anything; nil while somebody may.
    var passed: Int64?
    /// What is wrong at the end with who holds which room, see ``World/strays()``, and with what rooms are stored to hold.
    package private(set) var finalStrays: [String] = []
    private(set) lazy var intake = EnvelopeIntake(logger: Logger(label: "world") { _ in SwiftLogNoOpLogHandler() }) {
        [unowned self] in self.count("malformed")
    }

    /// A world that has not begun.
    package init(_ plan: Plan) {
        self.plan = plan
        self.awaitsSilence = plan.hasSilence
        self.awaitsScene = plan.hasScene
        self.random = SplitMix64(seed: plan.seed)
    }

    // MARK: Time

    func at(_ time: UInt64, _ run: @escaping () -> Void) {
        self.queue.add(at: max(time, self.now), run)
    }

    func after(_ time: UInt64, _ run: @escaping () -> Void) {
        self.queue.add(at: self.now + time, run)
    }

    func count(_ name: String, _ value: Int64 = 1) {
        self.counts[name, default: 0] += value
    }

    func note(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        trace("\(Double(self.now / 1000) / 1000) \(text())")
    }

    func observe(_ kind: HistoryRecord.Kind, _ fill: (inout HistoryRecord) -> Void = { _ in }) {
        var record = HistoryRecord(kind, time: Double(self.now / 1000) / 1000)
        fill(&record)
        self.history.append(record)
        self.note(record.line)
    }

    /// Runs the world to its end.
    /// - Returns: the history, final dump and counts included.
    package func run() -> [HistoryRecord] {
        self.begin()
        while !self.isOver, let event = self.queue.takeNext() {
            self.now = event.time
            event.run()
        }
        self.end()
        return self.history
    }

    // MARK: The course of things

    private func begin() {
        for stage in Stage.allCases {
            let spares = self.plan.setChanges > 0 && Self.stagesWithSets.contains(stage) ? Self.spares : 0
            for number in 0..<self.plan.instances + spares {
                self.processes.append(Process(StageInstance(stage, number), isListed: number < self.plan.instances))
            }
        }
        for (from, to) in Self.dials {
            for dialler in self.processes where dialler.stage == from {
                for server in self.processes where server.stage == to {
                    self.links.append(Link(self.links.count, from: dialler, to: server))
                }
            }
        }
        for process in self.processes where process.isListed { self.start(process) }
        let rooms = Self.rooms(self.plan.rooms)
        for number in 0..<self.plan.apps { self.apps.append(App(number, room: rooms[number % rooms.count], in: self)) }
        for number in 0..<self.plan.clients {
            self.apps.append(ClientApp(number, room: rooms[number % rooms.count], in: self))
        }
        if self.plan.hasSubscriber { self.apps.append(Subscriber("reader", room: rooms[0], in: self)) }
        if self.plan.hasVisitor { self.invite(App(self.plan.apps, room: rooms[0], in: self)) }
        for app in self.apps { self.after(self.random.number(0...150) * .millisecond) { app.connect() } }
        self.healAt = self.now + self.plan.calm + 100 * .millisecond
        for _ in 0..<self.plan.faults {
            let when = self.plan.calm + self.random.number(0...(self.plan.disturbed - self.plan.calm))
            self.after(when) { [unowned self] in self.strike() }
        }
        for _ in 0..<self.plan.fullLinks {
            let when = self.plan.calm + self.random.number(0...(self.plan.disturbed - self.plan.calm))
            self.after(when) { [unowned self] in self.fillLink() }
        }
        for _ in 0..<self.plan.setChanges {
            let when = self.plan.calm + self.random.number(0...(self.plan.disturbed - self.plan.calm))
            self.after(when) { [unowned self] in self.changeSet() }
        }
        self.after(self.plan.disturbed) { [unowned self] in self.awaitHeal() }
        // In some worlds the last commits are lost under way and nothing comes after them that would show it.
        let busy = self.random.number(self.plan.disturbed / 2...self.plan.disturbed + self.plan.after)
        self.after(busy) { [unowned self] in for app in self.apps { app.isBusy = false } }
    }

    /// An app looks on, and goes for good while its room moves.
    private func invite(_ visitor: App) {
        visitor.isBusy = false
        self.apps.append(visitor)
        self.after(self.random.number(self.plan.calm...self.plan.disturbed)) { [unowned self] in
            self.moveRoom(of: visitor)
            self.after(self.random.number(0...1000) * .millisecond) { [unowned self] in
                self.count("apps.gone-for-good")
                visitor.goAway()
                self.apps.removeAll { $0 === visitor }
            }
        }
    }

    /// Who dials whom, as the daemons' settings have it.
    private static let dials: [(Stage, Stage)] = [
        (.gateway, .coalescer), (.gateway, .committer), (.gateway, .fanout), (.coalescer, .fanout),
        (.committer, .fanout),
    ]

    private func awaitHeal() {
        guard self.now >= self.healAt else {
            return self.at(self.healAt) { [unowned self] in self.awaitHeal() }
        }
        self.ambushes = []
        self.observe(.heal)
        // Without this hint a client's pauses between attempts grow up to 15 s.
        for client in self.clients { client.networkReturned() }
        let deadline = self.now + self.plan.patience
        self.after(self.plan.after) { [unowned self] in
            for app in self.apps { app.isBusy = false }
            self.awaitQuiet(until: deadline, calm: 0)
        }
    }

    /// Everybody has settled when that has been so for a while.
    private func awaitQuiet(until deadline: UInt64, calm: Int) {
        let isSettled =
            self.apps.allSatisfy { $0.isSettled(at: self.database.model.seq(of: Identifier($0.room))) }
            && self.strays().isEmpty
            && !self.processes.contains { ($0.shell as? GatewayNode)?.hasCommitsInFlight ?? false }
        if isSettled, calm >= 5, self.awaitsSilence {
            self.awaitsSilence = false
            return self.playSilence { [unowned self] in self.awaitQuiet(until: deadline, calm: 0) }
        }
        if isSettled, calm >= 5, self.awaitsScene { return self.playScene() }
        if isSettled && calm >= 5 || self.now >= deadline {
            self.isOver = true
            return
        }
        self.after(50 * .millisecond) { [unowned self] in
            self.awaitQuiet(until: deadline, calm: isSettled ? calm + 1 : 0)
        }
    }

    /// When all is quiet apps look at parts of the canvas, and things are dragged through them: what each must see then is
    /// certain.
    private func playScene() {
        self.awaitsScene = false
        for app in self.apps { app.prepareScene() }
        self.after(Self.certainty) { [unowned self] in for app in self.apps { app.playScene() } }
        self.after(Self.certainty + Self.sceneTime) { [unowned self] in
            self.awaitQuiet(until: self.now + self.plan.patience, calm: 0)
        }
    }

    /// A little more than what the checker waits after a fault and after a viewport was set.
    private static let certainty: UInt64 = 5100 * .millisecond
    /// Until the last preview of the scene has arrived, whatever the pace of its room.
    private static let sceneTime: UInt64 = 3000 * .millisecond

    private func end() {
        for client in self.clients {
            client.screen.showAll(client)
            client.keepTranscript()
        }
        self.observe(.quiet)
        self.finalStrays = self.strays() + self.database.model.faults
        self.count("apps.robbed", Int64(self.apps.count(where: self.isRobbed)))
        for process in self.processes { process.shell?.count(into: &self.counts) }
        self.history += self.database.model.dump()
        for (name, value) in self.counts.sorted(by: { $0.key < $1.key }) {
            var record = HistoryRecord(.count)
            record.name = name
            record.value = value
            self.history.append(record)
        }
        // These know each other, and nobody else would let them go.
        for process in self.processes { process.shell = nil }
        for app in self.apps { app.connection = nil }
    }

    // MARK: Daemons

    func start(_ process: Process) {
        process.life += 1
        process.state = .running
        process.inbox = []
        process.wakeAt = nil
        process.isResting = false
        for link in self.links where link.dialler === process { link.isListed = link.server.isListed }
        process.shell = self.shell(of: process)
        for link in self.links where link.dialler === process && link.isListed {
            self.dial(link, after: self.random.number(1...20) * .millisecond)
        }
        self.wake(process, at: self.now)
    }

    private func shell(of process: Process) -> any Shell {
        switch process.stage {
        case .gateway: GatewayNode(process, in: self)
        case .coalescer: self.coalescer(process)
        case .committer: self.committer(process)
        case .fanout: self.fanout(process)
        }
    }

    /// Lays something down for a daemon and has it run soon.
    func deliver(_ input: Input, to process: Process) {
        guard process.isAlive else { return }
        process.inbox.append(input)
        self.wake(process, at: self.now + self.random.number(5...150) * 1000)
    }

    func wake(_ process: Process, at time: UInt64) {
        if let due = process.wakeAt, due <= time { return }
        process.wakeAt = time
        let life = process.life
        self.at(time) { [unowned self] in
            guard process.life == life, process.wakeAt == time, process.isRunning else { return }
            self.turn(process)
        }
    }

    private func turn(_ process: Process) {
        process.wakeAt = nil
        let inputs = process.inbox
        process.inbox = []
        guard let next = process.shell?.turn(inputs, at: Instant(nanoseconds: self.now)) else { return }
        self.wake(process, at: max(next.nanoseconds, self.now + 1000))
    }
}

extension World {
    /// Rooms of which the first two share a shard.
    private static func rooms(_ count: Int) -> [String] {
        let names = (1...200).map { "room-\($0)" }
        let shard = Shard.of(room: Identifier(names[0]))
        let close = names.dropFirst().first { Shard.of(room: Identifier($0)) == shard }
        return Array(([names[0]] + [close].compactMap { $0 } + names.dropFirst().prefix(8)).prefix(count))
    }
}
