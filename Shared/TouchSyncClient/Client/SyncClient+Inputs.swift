import TouchSyncClientCore

/// The core and its clock: every input comes through here, and its outputs are performed before the next one.
extension SyncClient {
    /// Says what the app wants, without waiting.
    nonisolated func post(_ input: ClientInput, edit: (id: String, result: Promise<EditResult>)? = nil) {
        guard self.inbox.append(Inbox.Item(input: input, edit: edit)) else { return }
        Task { [weak self] in await self?.takeInputs() }
    }

    /// An edit in a room: `input` bears its name.
    nonisolated func postEdit(
        elementIds: [String], in room: SyncRoom, _ input: (_ id: String) -> RoomInput
    ) -> SyncEdit {
        let id = self.inbox.nextName()
        let edit = SyncEdit(elementIds: elementIds, promise: Promise())
        self.post(.room(room.id, input(id)), edit: (id, edit.promise))
        return edit
    }

    /// Does what the app wanted until now.
    func takeInputs() {
        if self.isRestoring, !self.isClosed { return }
        for item in self.inbox.takeAll() {
            if self.isClosed {
                item.edit?.result.settle(.failure(ClientError.closed))
                continue
            }
            if let edit = item.edit { self.results.expect(edit.id, edit.result) }
            self.input(self.completed(item.input))
        }
    }

    /// The same, so that what is read afterwards has it. Only a store that is not open yet takes time.
    func caughtUp() async {
        if self.isRestoring, !self.isClosed { try? await self.restoring.value }
        self.takeInputs()
    }

    /// What rooms show. Whatever the app wanted before is in it.
    func read<Value: Sendable>(_ body: @Sendable (inout ClientCore) -> Value) async -> Value {
        await self.caughtUp()
        return body(&self.core)
    }

    /// Waits for the store, but not for one that hangs.
    func waitUntilRestored(patience: Duration) async {
        guard self.isRestoring, !self.isClosed else { return }
        let waiting = Task { [restoring] in _ = try? await restoring.value }
        let limit = Task {
            try? await Task.sleep(for: patience)
            waiting.cancel()
        }
        await waiting.value
        limit.cancel()
    }

    /// A join with what was saved of the room.
    private func completed(_ input: ClientInput) -> ClientInput {
        guard case .room(let room, .join) = input else { return input }
        self.hubs.entered(room)
        return .room(room, .join(record: self.savedRooms?[room]))
    }

    /// What an earlier run of the app left is sent, even in rooms that the app does not open.
    func restored() {
        self.isRestoring = false
        defer { self.restoring.settle(.success(())) }
        guard !self.isClosed, let savedRooms = self.savedRooms else { return self.takeInputs() }
        let joined = self.inbox.joinedRooms.map(TextKey.init)
        for room in savedRooms.rooms where !joined.contains(TextKey(room)) {
            self.input(.room(room, .join(record: savedRooms[room])))
            self.input(.room(room, .deliver))
        }
        self.takeInputs()
    }

    func input(_ input: ClientInput) {
        if self.isClosed { return }
        let now = Int64(self.clock.now)
        for output in self.core.input(input, at: now, random: .random(in: 0...1)) { self.perform(output) }
        self.schedule()
    }

    private func schedule() {
        guard let deadline = self.core.deadline else { return }
        self.timer.set(deadline, self.clock) { [weak self] in await self?.timerWoke() }
    }

    private func timerWoke() {
        self.timer.woke()
        if let deadline = self.core.deadline, Int64(self.clock.now) >= deadline {
            self.input(.timeReached)
        } else if !self.isClosed {
            self.schedule()
        }
    }

    // MARK: Outputs

    private func perform(_ output: ClientOutput) {
        switch output {
        case .openSocket: self.openSocket()
        case .closeSocket: self.closeSocket()
        case .send(let text): self.send(text)
        case .requestToken(let reason): self.provideToken(reason)
        case .failed(let failure): self.failureListeners.tell(failure)
        case .stateChanged(let state): self.stateListeners.tell(state)
        case .refused(let error): self.errorListeners.tell(error)
        case .room(let room, let output): self.perform(output, in: room)
        }
    }

    private func perform(_ output: RoomOutput, in room: String) {
        switch output {
        case .save(let record, let isFirst): self.save(record, isFirst: isFirst, room: room)
        case .readHistory(let after): self.searchHistory(of: room, after: after)
        case .result(let id, let answer):
            guard let error = self.results.settle(id, answer) else { return }
            // An edit of an earlier run may be one of a room that is not open.
            if let hub = self.hubs[room] { hub.tell(.refusal(error)) } else { self.errorListeners.tell(error) }
        default:
            if let change = RoomChange(output) { self.hubs[room]?.tell(change) }
            if output == .left { self.hubs.left(room) }
        }
    }
}
