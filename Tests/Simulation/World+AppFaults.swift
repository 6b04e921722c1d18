import DatabaseTestKit
import Wire

// What goes wrong with apps, their devices and their sessions.

extension World {
    /// Has a fault of this kind happen now; one that only a client can have cuts an app off where there is none.
    func strikeApp(_ fault: String) {
        let clients = self.clients
        guard fault != "app-cut", !clients.isEmpty else { return self.cutApp() }
        let client = clients[self.random.place(clients.count)]
        self.count("faults.\(fault)")
        let time = self.random.number(5...1200) * .millisecond
        switch fault {
        case "app-restart":
            client.kill()
            self.after(time) { client.connect() }
        case "app-offline": client.loseNetwork(for: time)
        case "app-stalled": client.connection?.stalledUntil = self.now + time * 3
        case "app-hidden": client.hide(for: time * 3)
        case "session-ended":
            self.endSession(of: client)
            self.disturbed(for: 900 * .millisecond)
        default: break
        }
        self.disturbed(for: time * 3)
    }

    private func cutApp() {
        self.count("faults.app-cut")
        if let connection = self.apps[self.random.place(self.apps.count)].connection { self.sever(connection) }
        self.disturbed(for: 300 * .millisecond)
    }

    /// The session of a client ends as soon as it has commits under way. Mostly their answers are lost with a connection
    /// first, so that the client has to find out what became of them.
    private func endSession(of client: ClientApp, patience: Int = 60) {
        guard patience > 0, !client.wire.hasCommits else { return self.endSessionNow(of: client) }
        self.after(5 * .millisecond) { [unowned self] in self.endSession(of: client, patience: patience - 1) }
    }

    private func endSessionNow(of client: ClientApp) {
        if self.random.chance(75), let connection = client.connection {
            connection.stalledUntil = self.now + 600 * .millisecond
            self.sever(connection)
        }
        self.after(self.random.number(0...300) * .millisecond) { [unowned self] in
            self.database.model.endSession(Identifier(client.sid), in: Identifier(client.room))
        }
    }
}
