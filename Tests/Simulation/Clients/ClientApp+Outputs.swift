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
        case .failed: self.world.count("clients.failed-attempts")
        case .room(_, let output): self.perform(output)
        }
    }

    private func perform(_ output: RoomOutput) {
        switch output {
        case .save(let record, let isFirst): self.save(record, isFirst: isFirst)
        case .readHistory(let after): self.readHistory(after: after)
        case .result(let id, let answer): self.user.told(id, answer, self)
        case .changed(let ids): self.show(ids)
        case .left: self.user.left(self)
        case .joined, .moving, .still, .membersChanged, .awareness, .signal: break
        case .refused: self.world.count("clients.joins-refused")
        }
    }

    // MARK: The socket

    private func openSocket() {
        guard self.hasNetwork, let connection = self.world.socket(of: self) else {
            return self.after(self.world.random.number(1...200) * .millisecond) { [weak self] in
                if self?.connection == nil { self?.input(.closed(nil)) }
            }
        }
        self.connection = connection
        self.world.tell(connection, .opened)
    }

    func send(_ packet: String) {
        if self.saves.isEmpty || self.mistakes.sendsEarly { self.transmit(packet) } else { self.held.append(packet) }
    }

    private func transmit(_ packet: String) {
        guard let connection else { return }
        let news = ClientPackets.news(in: packet, from: self.name)
        self.wire.sent(news)
        if let news { self.world.tell(connection, news) }
    }

    // MARK: The disk

    /// To write down which edits there are takes no time here, as the judge wants to know them; what became of them does.
    private func save(_ record: RoomRecord?, isFirst: Bool) {
        var next = ClientDisk()
        next.save(record)
        self.user.caught = next.caught
        if next.hasFolded { self.world.count("clients.folded-edits") }
        if next.hasDoubts { self.world.count("clients.saved-in-doubt") }
        self.wire.saved(next)
        self.lastSave += 1
        let save = self.lastSave
        guard next.names == self.disk.names, isFirst || self.world.random.place(3) > 0 else {
            (self.disk, self.savedUpTo) = (next, save)
            return
        }
        let time = self.world.random.number(2...200) * .millisecond
        if isFirst {
            self.world.count("clients.sends-held")
            self.saves.insert(save)
            // Once all faults have ended it would only search the history for edits in doubt again and again.
            if self.world.random.place(2) == 0, self.world.now < self.world.healAt {
                self.restart(after: time - .millisecond)
            }
        }
        self.after(time) { [weak self] in self?.saved(next, save) }
    }

    /// The app ends at the worst moment, and begins again.
    private func restart(after time: UInt64) {
        self.after(time) { [weak self] in
            guard let self else { return }
            self.kill()
            self.world.after(self.world.random.number(1...500) * .millisecond) { self.connect() }
        }
    }

    private func saved(_ disk: ClientDisk, _ save: Int) {
        // A later one may have been faster.
        if save > self.savedUpTo { (self.disk, self.savedUpTo) = (disk, save) }
        guard self.saves.remove(save) != nil, self.saves.isEmpty else { return }
        let packets = self.held
        self.held = []
        for packet in packets { self.transmit(packet) }
    }

    // MARK: HTTP

    private func readHistory(after seq: Int64) {
        self.after(self.world.random.number(1...60) * .millisecond) { [weak self] in
            guard let self else { return }
            self.transcript?.page = "null"
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
        let page = self.mistakes.altered(AppText(text))
        self.transcript?.page = String(decoding: page.json, as: UTF8.self)
        return HistoryExcerpt(json: page.root)
    }

    // MARK: The screen

    /// Draws elements again.
    private func show(_ ids: [String]) {
        self.screen.show(ids, self)
    }
}
