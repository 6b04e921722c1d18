import DatabaseTestKit
import Stages
import Wire

// What goes wrong.

extension World {
    /// What is drawn from; what stands here twice comes twice as often.
    private static let faults = [
        "kill", "kill", "kill", "pause", "reset", "reset", "cut", "one-way", "slow-link", "database-lost",
        "database-down", "database-slow", "database-trouble", "failover", "app-cut", "app-cut", "write-lost",
        "write-lost", "write-kill", "write-failover", "renewed", "session-ended", "app-restart", "app-restart",
        "app-offline", "app-stalled", "app-hidden", "daemon-cut", "daemon-cut", "host-cut", "host-cut",
    ]

    /// The counts of faults, but for those of daemons, which have the stage's name in them.
    static let faultNames = Set(World.faults).subtracting(["kill", "pause"]).sorted().map { "faults.\($0)" }

    /// Draws one fault and has it happen now.
    func strike() {
        let fault = Self.faults[self.random.place(Self.faults.count)]
        self.note("FAULT \(fault)")
        switch fault {
        case "kill": self.killOne()
        case "pause": self.pauseOne()
        case "reset":
            self.count("faults.reset")
            self.reset(self.anyLink(), within: 20 * .millisecond)
            self.disturbed(for: 50 * .millisecond)
        case "cut":
            self.count("faults.cut")
            let time = self.stretch()
            self.cut(self.anyLink(), [.forth, .back], for: time)
            self.disturbed(for: time)
        case "one-way":
            self.count("faults.one-way")
            let time = self.stretch()
            self.cut(self.anyLink(), [self.random.chance(50) ? .forth : .back], for: time)
            self.disturbed(for: time)
        case "slow-link":
            self.count("faults.slow-link")
            let time = self.random.number(200...1500) * .millisecond
            self.anyLink().slowUntil = self.now + time
            // What was sent last in that time is under way for a while.
            self.disturbed(for: time + 600 * .millisecond)
        case "daemon-cut": self.cutOff([self.processes[self.random.place(self.processes.count)]])
        case "host-cut": self.cutHost()
        case "app-cut", "app-restart", "app-offline", "app-stalled", "app-hidden", "session-ended":
            self.strikeApp(fault)
        default: self.strikeDatabase(fault)
        }
    }

    /// A link accepts nothing more for a while.
    func fillLink() {
        self.count("faults.full-link")
        let time = self.random.number(20...1500) * .millisecond
        self.fill(self.anyLink(), self.random.chance(50) ? .forth : .back, for: time)
        self.disturbed(for: time)
    }

    private func strikeDatabase(_ fault: String) {
        self.count("faults.\(fault)")
        let time = self.random.number(50...1500) * .millisecond
        switch fault {
        case "database-lost":
            let up = self.database.connections.filter { $0.isUp && $0.isWanted }
            if !up.isEmpty { self.lose(up[self.random.place(up.count)]) }
        case "write-lost": self.ambushes.append { [unowned self] connection in self.lose(connection) }
        case "write-kill": self.ambushes.append { [unowned self] in self.restart($0.process) }
        case "write-failover": self.ambushes.append { [unowned self] _ in self.failOver(for: time) }
        case "database-down": self.crashDatabase(for: time)
        case "database-slow": self.database.slowUntil = max(self.database.slowUntil, self.now + time)
        case "database-trouble": self.database.troubleUntil = max(self.database.troubleUntil, self.now + time)
        case "failover":
            self.failOver(for: time)
        case "renewed": self.renew(for: time)
        default: break
        }
        self.disturbed(for: time)
    }

    /// The synchronous standby has all that was committed; perhaps it begins a history of its own.
    private func failOver(for time: UInt64) {
        self.crashDatabase(for: time)
        self.disturbed(for: time)
        if self.random.chance(50) { self.database.model.epoch = Identifier("epoch-\(self.random.number(2...999))") }
    }

    /// The database comes back as another history, and the daemons that know the old one are restarted, each in its own
    /// time: what an operator does who restores a backup.
    private func renew(for time: UInt64) {
        self.crashDatabase(for: time)
        self.database.model.epoch = Identifier("epoch-\(self.random.number(2...999))")
        for process in self.processes where process.stage == .committer || process.stage == .fanout {
            self.restart(process)
        }
    }

    func disturbed(for time: UInt64) {
        self.healAt = max(self.healAt, self.now + time)
    }

    private func stretch() -> UInt64 {
        self.random.chance(60)
            ? self.random.number(100...2000) * .millisecond : self.random.number(2600...4000) * .millisecond
    }

    /// The network of a host fails, on which there is one daemon of every stage.
    private func cutHost() {
        let number = self.random.place(self.plan.instances)
        let daemons = self.processes.filter { $0.instance.number == number }
        self.cutOff(daemons)
        for app in self.apps {
            if let connection = app.connection, daemons.contains(where: { $0 === connection.gateway }) {
                self.sever(connection)
            }
        }
    }

    /// Nothing passes between these daemons and all others for a while. Then links come back one after the other, as they
    /// try again after pauses of different length.
    private func cutOff(_ daemons: [Process]) {
        self.count(daemons.count > 1 ? "faults.host-cut" : "faults.daemon-cut")
        let time = self.stretch()
        for link in self.links {
            let isInside = daemons.contains { $0 === link.dialler }
            guard isInside != daemons.contains(where: { $0 === link.server }) else { continue }
            let more = self.random.number(0...1500) * .millisecond
            self.cut(link, [.forth, .back], for: time + more)
            self.disturbed(for: time + more)
        }
    }

    private func anyLink() -> Link {
        self.links[self.random.place(self.links.count)]
    }

    // MARK: Daemons

    private func killOne() {
        let process = self.processes[self.random.place(self.processes.count)]
        self.restart(process)
    }

    /// The fan-out that serves the room of an app restarts.
    func moveRoom(of app: any SimulatedApp) {
        self.disturbed(for: 1000 * .millisecond)
        let fanouts = self.processes.filter { $0.stage == .fanout && $0.isAlive }
        let owner = Rendezvous(names: fanouts.map(\.name), shards: Shard.count)
            .owner(of: Shard.of(room: Identifier(app.room)))
        if let process = fanouts.first(where: { $0.name == owner }) { self.restart(process) }
    }

    private func restart(_ process: Process) {
        guard process.isAlive else { return }
        self.kill(process)
        let time = self.random.number(20...1200) * .millisecond
        self.disturbed(for: time)
        self.after(time) { [unowned self] in
            self.note("start \(process.name)")
            self.start(process)
        }
    }

    /// A daemon ends between two of its turns. What it had sent may still arrive, for a moment.
    func kill(_ process: Process) {
        self.note("kill \(process.name)")
        self.count("faults.kill.\(process.stage.rawValue)")
        process.shell?.count(into: &self.counts)
        process.shell = nil
        process.life += 1
        process.state = .dead
        process.inbox = []
        process.wakeAt = nil
        for link in self.links {
            if link.dialler === process {
                link.session = nil
                link.recent = []
                let sessions = link.serverSessions.sorted()
                self.after(self.random.number(0...4000) * 1000) { [unowned self] in
                    for session in sessions { self.closeServer(link, session) }
                }
            } else if link.server === process {
                link.serverSessions = []
                let session = link.session
                self.after(self.random.number(0...4000) * 1000) { [unowned self] in
                    if session != nil, link.session == session { self.closeDialler(link) }
                }
            }
        }
        for connection in self.database.connections where connection.process === process { self.lose(connection) }
        self.database.connections.removeAll { $0.process === process }
        for app in self.apps where app.connection?.gateway === process {
            if let connection = app.connection { self.sever(connection) }
        }
    }

    /// A daemon stands still and then goes on with what it had; if that took too long, its links are gone.
    private func pauseOne() {
        let process = self.processes[self.random.place(self.processes.count)]
        guard process.isRunning else { return }
        let time = self.stretch()
        self.note("pause \(process.name) for \(time / .millisecond) ms")
        self.count("faults.pause.\(process.stage.rawValue)")
        process.state = .paused(since: self.now)
        let life = process.life
        self.disturbed(for: time)
        if time > Self.silence {
            self.after(Self.silence + self.random.number(0...100) * .millisecond) { [unowned self] in
                if process.life == life { self.isolate(process) }
            }
        }
        self.after(time) { [unowned self] in
            guard process.life == life else { return }
            process.state = .running
            process.wakeAt = nil
            if time > Self.silence { self.giveUpLinks(of: process) }
            self.wake(process, at: self.now)
        }
    }

    /// The others give up a daemon that is silent.
    private func isolate(_ process: Process) {
        for link in self.links {
            if link.dialler === process {
                for session in link.serverSessions.sorted() { self.closeServer(link, session) }
            } else if link.server === process {
                self.closeDialler(link)
            }
        }
    }

    /// A daemon that stood still for too long drops what waited on its links, and greets again.
    private func giveUpLinks(of process: Process) {
        process.inbox.removeAll(where: \.isOfLink)
        for link in self.links {
            if link.dialler === process {
                self.closeDialler(link)
            } else if link.server === process {
                for session in link.serverSessions.sorted() { self.closeServer(link, session) }
            }
        }
    }
}
