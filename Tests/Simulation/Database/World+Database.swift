import DatabaseTestKit
import Stages

// The daemons' connections to the database, and what may happen to a transaction on its way.

extension World {
    /// Connects, and goes on trying for as long as the daemon lives.
    func connect(_ connection: DatabaseConnection) {
        if !self.database.connections.contains(where: { $0 === connection }) {
            self.database.connections.append(connection)
        }
        self.after(self.random.number(1...20) * .millisecond) { [unowned self] in
            guard connection.isWanted, !connection.isUp else { return }
            if self.database.downUntil > self.now {
                return self.after(self.random.number(50...200) * .millisecond) { [unowned self] in
                    self.connect(connection)
                }
            }
            connection.isUp = true
            connection.session += 1
            self.deliver(.database(.up(lane: connection.lane)), to: connection.process)
        }
    }

    /// Sends a transaction; false when the connection is down.
    func submit(_ task: DatabaseTask, on connection: DatabaseConnection) -> Bool {
        guard connection.isUp, connection.isWanted else { return false }
        connection.open.append(task)
        if task.isWrite { self.spring(on: connection) }
        var latency = self.random.number(100...1500) * 1000
        if self.database.slowUntil > self.now { latency += self.random.number(50...1500) * .millisecond }
        let session = connection.session
        self.after(latency) { [unowned self] in
            // A connection that was lost takes what has not begun with it; see ``lose(_:)`` for what has.
            guard !task.isDone, connection.isUp, connection.session == session, connection.isWanted else { return }
            let isRolledBack = self.database.troubleUntil > self.now && self.random.chance(40)
            let news = isRolledBack ? task.failure : self.perform(task)
            self.answer(news, to: task, on: connection)
        }
        return true
    }

    private func perform(_ task: DatabaseTask) -> DatabaseNews {
        task.isDone = true
        return task.run(&self.database.model)
    }

    private func answer(_ news: DatabaseNews, to task: DatabaseTask, on connection: DatabaseConnection) {
        let session = connection.session
        self.after(self.random.number(50...500) * 1000) { [unowned self] in
            guard connection.isUp, connection.session == session, connection.isWanted else { return }
            connection.open.removeAll { $0 === task }
            self.deliver(.database(news), to: connection.process)
        }
    }

    /// A connection breaks. What was sent on it may be done already, may be done later all the same (the server has it
    /// and does not know yet that nobody waits), or never.
    func lose(_ connection: DatabaseConnection) {
        guard connection.isUp else { return }
        connection.isUp = false
        for task in connection.open {
            if task.isWrite { self.count("faults.open-transaction") }
            guard !task.isDone, self.random.chance(50) else { continue }
            let lag = self.random.chance(70) ? self.random.number(0...5) : self.random.number(5...1500)
            self.after(lag * .millisecond) { [unowned self] in
                guard !task.isDone, self.database.downUntil <= self.now else { return }
                if task.isWrite { self.count("faults.late-transaction") }
                _ = self.perform(task)
            }
        }
        let unanswered = connection.open
        connection.open = []
        guard connection.isWanted else { return }
        if connection.process.stage == .fanout {
            // A fan-out hears of each question; a committer carries one on a lane and knows by the lane's end.
            for task in unanswered { self.deliver(.database(task.failure), to: connection.process) }
        }
        self.deliver(.database(.down(lane: connection.lane)), to: connection.process)
        self.connect(connection)
    }

    /// A fault that waited for an open transaction happens now, somewhere on its way.
    private func spring(on connection: DatabaseConnection) {
        guard !self.ambushes.isEmpty else { return }
        let ambush = self.ambushes.removeFirst()
        self.after(self.random.number(0...2000) * 1000) { ambush(connection) }
    }

    /// The server goes away: what it has not done is gone, except what it was just about to commit.
    func crashDatabase(for time: UInt64) {
        for connection in self.database.connections where connection.isUp {
            for task in connection.open where !task.isDone && self.random.chance(30) { _ = self.perform(task) }
        }
        self.database.downUntil = max(self.database.downUntil, self.now + time)
        for connection in self.database.connections where connection.isUp { self.lose(connection) }
    }
}
