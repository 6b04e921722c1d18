import JSONBytes
import TouchSyncClientCore

// What the core wants done.
extension ClientApp {
    func perform(_ output: ClientOutput) {
        switch output {
        case .openSocket: self.openSocket()
        case .closeSocket: self.dropConnection(within: 0)
        case .send(let packet): self.send(packet)
        case .requestToken: break
        case .stateChanged(let state): self.world.note("\(self.name) is \(state)")
        case .refused: self.world.count("clients.errors")
        case .room(_, let output): self.perform(output)
        }
    }

    private func perform(_ output: RoomOutput) {
        switch output {
        case .save(let record): self.save(record)
        case .readHistory(let after): self.readHistory(after: after)
        case .result(let id, let answer): self.user.told(id, answer, self)
        case .changed(let ids): self.show(ids)
        case .left: self.user.left(self)
        case .joined, .moving, .membersChanged, .attention: break
        case .refused: self.world.count("clients.joins-refused")
        }
    }

    // MARK: The socket

    private func openSocket() {
        guard self.hasNetwork, let connection = self.world.socket(of: self) else {
            return self.after(self.world.random.number(1...200) * .millisecond) { [weak self] in
                if self?.connection == nil { self?.input(.closed) }
            }
        }
        self.connection = connection
        self.world.tell(connection, .opened)
    }

    private func send(_ packet: String) {
        guard let connection else { return }
        let news = ClientPackets.news(in: packet, from: self.name)
        self.wire.sent(news)
        if let news { self.world.tell(connection, news) }
    }

    // MARK: The disk

    private func save(_ record: RoomRecord?) {
        self.disk.save(record)
        if self.disk.hasFolded { self.world.count("clients.folded-edits") }
        if self.disk.hasDoubts { self.world.count("clients.saved-in-doubt") }
        self.wire.saved(self.disk)
    }

    // MARK: HTTP

    private func readHistory(after seq: Int64) {
        self.after(self.world.random.number(1...60) * .millisecond) { [weak self] in
            guard let self else { return }
            let page = self.page(after: seq)
            self.world.count(page == nil ? "clients.history-failed" : "clients.history-read")
            self.input(.room(self.room, .historyRead(after: seq, page)))
        }
    }

    private func page(after seq: Int64) -> HistoryExcerpt? {
        guard self.hasNetwork, self.world.database.downUntil <= self.world.now else { return nil }
        let isTroubled = self.world.database.troubleUntil > self.world.now
        guard self.world.random.chance(isTroubled ? 50 : 90) else { return nil }
        let text = self.world.database.model.historyPage(
            of: self.room, after: UInt64(seq), limit: 3, kept: self.world.plan.keptHistory)
        return HistoryExcerpt(json: self.mistakes.altered(AppText(text)).root)
    }

    // MARK: The screen

    /// Draws elements again.
    private func show(_ ids: [String]) {
        self.screen.show(ids, self)
    }
}
