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
        self.disturbed(for: time)
        switch fault {
        case "app-restart":
            client.kill()
            self.after(time) { client.connect() }
        case "app-offline": client.loseNetwork(for: time)
        case "app-stalled": client.connection?.stalledUntil = self.now + time * 3
        case "app-hidden": client.hide(for: time * 3)
        case "session-ended": self.endSession(of: client)
        default: break
        }
        self.disturbed(for: time * 3)
    }

    private func cutApp() {
        self.count("faults.app-cut")
        if let connection = self.apps[self.random.place(self.apps.count)].connection { self.sever(connection) }
        self.disturbed(for: 300 * .millisecond)
    }

    /// The session of a client ends, perhaps while its commits are under way, and as often as not over a lost connection,
    /// so that it has to find out what became of them.
    private func endSession(of client: ClientApp) {
        if self.random.chance(50), let connection = client.connection { self.sever(connection) }
        self.after(self.random.number(0...100) * .millisecond) { [unowned self] in
            self.database.model.endSession(Identifier(client.sid), in: Identifier(client.room))
        }
    }
}
