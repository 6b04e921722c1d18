import HistoryChecker

// What apps do that wait for no answer before the next request.
extension App {
    /// Sends a commit a few times more, as an app does that is in doubt about its connection.
    func sendCopies(of commit: Pending) {
        guard self.world.random.place(12) == 0 else { return }
        for _ in 0...self.world.random.place(3) {
            self.world.count("apps.copies")
            self.send(self.text(of: commit), awaiting: .commit(commit.number))
        }
    }

    /// Leaves the room and joins it again in one go; or joins once more first.
    func leaveAndJoin() {
        self.world.count("apps.left-and-joined")
        self.shown = [:]
        self.witness.left()
        if self.world.random.place(2) == 0 { self.join() }
        self.send("[\"room:leave\",{\"roomId\":\"\(self.room)\"}]", awaiting: .other)
        self.join()
    }

    /// Takes changes back, and perhaps makes some of them again.
    func undoOrRedo() {
        let undos = self.world.random.number(0...3)
        let redos = self.world.random.number(0...2)
        for _ in 0..<undos { self.step("history:undo") }
        for _ in 0..<redos { self.step("history:redo") }
    }

    /// Takes a change back, at times past the one that could not be.
    private func step(_ event: String) {
        guard let past = self.blocked, past.event == event, self.world.random.place(2) == 0 else {
            return self.begin(event, on: [], "")
        }
        self.blocked = nil
        self.world.count("apps.undos-past")
        self.begin(event, on: [], "\"past\":\(past.seq)", leavingOut: past.seq)
    }

    /// Sends many commits without a number at once.
    func burst(on element: String) {
        self.world.count("apps.bursts")
        for _ in 0..<self.world.random.number(2...40) {
            let fields = "\"elementId\":\"\(element)\",\"set\":{\"zIndex\":\(self.world.random.number(100...200))}"
            self.send("[\"element:update\",{\"roomId\":\"\(self.room)\",\(fields)}]", awaiting: .unnumbered)
        }
    }
}
