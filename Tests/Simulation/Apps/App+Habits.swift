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
        self.selection = []
        self.observe(.left) { $0.isFinal = true }
        self.hasLeft = true
        if self.world.random.place(2) == 0 { self.join() }
        self.send("[\"room:leave\",{\"roomId\":\"\(self.room)\"}]", awaiting: .other)
        self.join()
    }

    /// Takes changes back, and perhaps makes some of them again.
    func undoOrRedo() {
        let undos = self.world.random.number(0...3)
        let redos = self.world.random.number(0...2)
        for _ in 0..<undos { self.begin("history:undo", on: [], "") }
        for _ in 0..<redos { self.begin("history:redo", on: [], "") }
    }

    /// Looks at a part of the canvas, or at everything again.
    func look() {
        self.world.count("apps.viewports")
        let (x, y) = (self.world.random.number(0...900), self.world.random.number(0...900))
        let view = self.world.random.place(4) == 0 ? "" : ",\"x\":\(x),\"y\":\(y),\"width\":300,\"height\":300"
        self.send("[\"viewport:set\",{\"roomId\":\"\(self.room)\"\(view)}]", awaiting: .other)
    }

    /// Moves the cursor, hides it, or selects something.
    func point() {
        let room = "\"roomId\":\"\(self.room)\""
        switch self.world.random.place(4) {
        case 0: self.send("[\"cursor:moving\",{\(room),\"x\":null,\"y\":null}]", awaiting: nil)
        case 1:
            let x = self.world.random.number(0...900)
            self.send("[\"cursor:moving\",{\(room),\"x\":\(x),\"y\":5}]", awaiting: nil)
        default:
            self.world.count("apps.selections")
            self.selection = self.world.random.place(3) == 0 ? [] : [self.pick()]
            let ids = self.selection.map { "\"\($0)\"" }.joined(separator: ",")
            self.send("[\"selection:set\",{\(room),\"elementIds\":[\(ids)]}]", awaiting: .other)
        }
    }

    /// Sends more commits without a number than may be without a result.
    func burst(on element: String) {
        self.world.count("apps.bursts")
        for _ in 0..<self.world.random.number(2...40) {
            let fields = "\"elementId\":\"\(element)\",\"set\":{\"zIndex\":\(self.world.random.number(100...200))}"
            self.send("[\"element:update\",{\"roomId\":\"\(self.room)\",\(fields)}]", awaiting: .other)
        }
    }
}
