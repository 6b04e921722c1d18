import Stages

// The sets of instances, which change under load. Each daemon learns of a change in its own time, as from a file or from
// DNS; until then it acts on the set that it knows.

extension World {
    /// The stages that others have sets of, without gateways, which apps find by themselves.
    static let stagesWithSets: [Stage] = [.coalescer, .committer, .fanout]

    /// How many instances each of them may have that are in no set at first.
    static let spares = 2

    /// The longest time until a daemon knows another set.
    private static let news: UInt64 = 2000 * .millisecond

    /// Adds an instance of some stage, or removes one that may still serve.
    func changeSet() {
        let stage = Self.stagesWithSets[self.random.place(Self.stagesWithSets.count)]
        let members = self.processes.filter { $0.stage == stage && $0.isListed }
        let spare = self.processes.first { $0.stage == stage && !$0.isListed && $0.life == 0 }
        if let spare, members.count < 2 || self.random.chance(50) {
            self.count("sets.grown.\(stage)")
            self.grow(by: spare)
        } else if members.count > 1 {
            self.count("sets.shrunk.\(stage)")
            self.shrink(by: members[self.random.place(members.count)])
        }
        self.disturbed(for: 2 * Self.news)
    }

    /// Others may know it before it is up, or long after.
    private func grow(by process: Process) {
        self.note("\(process.name) is added")
        process.isListed = true
        self.after(self.random.number(0...1000) * .millisecond) { [unowned self] in
            if process.life == 0 { self.start(process) }
        }
        self.tellDiallers(of: process)
    }

    /// It stops before others know, while some do, or goes on for nobody.
    private func shrink(by process: Process) {
        self.note("\(process.name) is removed")
        process.isListed = false
        self.tellDiallers(of: process)
        guard self.random.chance(70) else { return }
        self.after(self.random.number(0...(2 * Self.news / .millisecond)) * .millisecond) { [unowned self] in
            // It may have been added again.
            if process.isAlive, !process.isListed { self.kill(process) }
        }
    }

    private func tellDiallers(of server: Process) {
        let diallers = self.processes.filter { dialler in
            self.links.contains { $0.dialler === dialler && $0.server === server }
        }
        for dialler in diallers {
            self.after(self.random.number(0...(Self.news / .millisecond)) * .millisecond) { [unowned self] in
                self.readSet(of: dialler, about: server)
            }
        }
    }

    /// A daemon reads a set again.
    private func readSet(of dialler: Process, about server: Process) {
        // One that starts later reads the set as it is then.
        guard dialler.isAlive else { return }
        for link in self.links where link.dialler === dialler && link.server === server {
            guard link.isListed != server.isListed else { continue }
            link.isListed = server.isListed
            if link.isListed {
                self.deliver(.added(link), to: dialler)
                self.dial(link, after: self.random.number(1...20) * .millisecond)
            } else {
                self.close(link)
                self.deliver(.removed(link), to: dialler)
            }
        }
    }
}
