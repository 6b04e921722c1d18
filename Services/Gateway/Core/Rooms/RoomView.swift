import Wire

/// One room that has members here: who listens, and how far its stream came.
struct RoomView {
    /// Up to where the stream was delivered.
    private(set) var position: Position
    /// Who speaks the full contract.
    private(set) var members: [Slot] = []
    /// Who speaks the 1.0 contract.
    private(set) var v1Members: [Slot] = []
    /// Who reads the numbered stream over HTTP.
    private(set) var subscribers: [Slot] = []
    /// Who of both gets elements without what moves them.
    private var stillMembers: Set<Slot> = []
    /// Who of both wants previews.
    private(set) var previewMembers: [Slot] = []
    /// Who still reads the parts of a snapshot, and as of when that is. These get nothing numbered and no previews.
    private(set) var loading: [Slot: Loading] = [:]
    /// Up to where those members have the stream already whose join's answer was ahead of it.
    private var floors: [Slot: UInt64] = [:]
    /// What the members of the 1.0 contract get.
    private var v1Translator = V1Translator()
    /// Awareness that is sent only once: all but cursors that are shown, which move on.
    private var awarenessShifts = 0
    /// True while a gap in the stream is being filled.
    var isCatchingUp = false
    /// True from when another fan-out serves the room until it says where the stream stands.
    var awaitsFanout = false

    init(position: Position) {
        self.position = position
    }

    /// A member that still reads its snapshot.
    struct Loading {
        let position: Position
        let options: StreamOptions
        let awarenessShifts: Int
    }

    var isEmpty: Bool {
        self.members.isEmpty && self.v1Members.isEmpty && self.subscribers.isEmpty && self.loading.isEmpty
    }
    var all: [Slot] { self.members + self.v1Members + self.subscribers + self.loading.keys }

    func contains(_ slot: Slot) -> Bool {
        self.members.contains(slot) || self.v1Members.contains(slot) || self.subscribers.contains(slot)
            || self.loading[slot] != nil
    }

    // MARK: Members

    /// Adds a member, or changes what it listens to.
    mutating func add(_ slot: Slot, as kind: ReaderKind, options: StreamOptions) {
        self.remove(slot)
        switch kind {
        case .app: self.members.append(slot)
        case .v1App: self.v1Members.append(slot)
        case .subscriber: return self.subscribers.append(slot)
        }
        if kind == .v1App || !options.motion { self.stillMembers.insert(slot) }
        if options.previews { self.previewMembers.append(slot) }
    }

    /// The preview members are sent awareness that does not come again.
    mutating func awarenessShifted() { self.awarenessShifts += 1 }

    /// Adds a member that is sent its snapshot in parts.
    mutating func load(_ slot: Slot, at position: Position, options: StreamOptions) {
        self.remove(slot)
        self.loading[slot] = Loading(
            position: position, options: options, awarenessShifts: self.awarenessShifts)
    }

    /// A member has read its snapshot. It follows the stream from there, if nothing was delivered meanwhile.
    /// - Returns: the number of the first update that it lacks; nil: it has missed nothing.
    mutating func loaded(_ slot: Slot) -> UInt64? {
        guard let loading = self.loading.removeValue(forKey: slot) else { return nil }
        let isCurrent =
            loading.position.epoch == self.position.epoch && self.position.seq <= loading.position.seq
            && loading.awarenessShifts == self.awarenessShifts
        guard isCurrent else { return loading.position.seq + 1 }
        self.add(slot, as: .app, options: loading.options)
        if self.position.seq < loading.position.seq { self.raiseFloor(of: slot, to: loading.position.seq) }
        return nil
    }

    /// A member's join was answered from ahead of the stream.
    mutating func raiseFloor(of slot: Slot, to seq: UInt64) { self.floors[slot] = seq }

    /// What a member has whose join was answered from ahead of the stream; 0 for others.
    func floor(of slot: Slot) -> UInt64 { self.floors[slot] ?? 0 }

    mutating func remove(_ slot: Slot) {
        self.members.removeAll { $0 == slot }
        self.v1Members.removeAll { $0 == slot }
        self.subscribers.removeAll { $0 == slot }
        self.previewMembers.removeAll { $0 == slot }
        if !self.stillMembers.isEmpty { self.stillMembers.remove(slot) }
        self.loading[slot] = nil
        if !self.floors.isEmpty { self.floors[slot] = nil }
    }

    /// Divides members: those that get elements with what moves them, and the others.
    private func byMotion(_ members: [Slot]) -> (moving: [Slot], still: [Slot]) {
        if self.stillMembers.isEmpty { return (members, []) }
        return (
            members.filter { !self.stillMembers.contains($0) }, members.filter { self.stillMembers.contains($0) }
        )
    }

    // MARK: The stream

    /// What an update is to the stream.
    enum Step {
        /// It was delivered already.
        case old
        /// There is a gap before it.
        case ahead
        /// It is the next one, and was delivered.
        case next
    }

    /// Delivers the next update of the stream. Its text is framed as it came; the one without motion is made once, if
    /// somebody gets it.
    mutating func deliver(_ update: Update, into actions: inout [GatewayAction]) -> Step {
        if update.seq <= self.position.seq { return .old }
        guard update.seq == self.position.seq + 1 else { return .ahead }
        self.position.seq = update.seq
        if !self.floors.isEmpty { self.floors = self.floors.filter { $0.value >= update.seq } }
        let v1 = self.withoutFloor(self.v1Members)
        let (moving, still) = self.byMotion(self.withoutFloor(self.members))
        let stored = still.isEmpty && v1.isEmpty ? update : update.still
        let step = StreamStep(update, isNumbered: true)
        if !moving.isEmpty { actions.append(.broadcast(moving, json: Array(update.text), step: step)) }
        if !still.isEmpty { actions.append(.broadcast(still, json: Array(stored.text), step: step)) }
        self.v1Translator.deliver(stored, to: v1, into: &actions)
        let subscribers = self.withoutFloor(self.subscribers)
        if !subscribers.isEmpty {
            actions.append(.events(subscribers, EventStreamText.update(update, epoch: self.position.epoch)))
        }
        if let trace = update.trace {
            let count = moving.count + still.count + v1.count + subscribers.count
            actions.append(.traced(TraceMark(trace, .delivered, update, [.members: "\(count)"])))
        }
        return .next
    }

    private func withoutFloor(_ members: [Slot]) -> [Slot] {
        self.floors.isEmpty ? members : members.filter { self.floors[$0] == nil }
    }

    /// Delivers the end of a gesture without a commit.
    mutating func deliver(_ ended: GestureEnded, into actions: inout [GatewayAction]) {
        let (moving, still) = self.byMotion(self.members)
        let stored = still.isEmpty && self.v1Members.isEmpty ? ended : ended.still
        // Somebody who leaves can end a thousand gestures at once, each with its element. An app for which that is too much
        // joins again instead.
        let step = StreamStep(ended.gesture, before: self.position.seq + 1)
        if !moving.isEmpty { actions.append(.broadcast(moving, json: EventText.gestureEnded(ended), step: step)) }
        if !still.isEmpty { actions.append(.broadcast(still, json: EventText.gestureEnded(stored), step: step)) }
        self.v1Translator.deliver(stored, at: self.position.seq, to: self.v1Members, into: &actions)
    }

    /// The stream goes on from another place. Members lose theirs, but those at that place; a snapshot is read to its end.
    /// - Returns: the members who lost their places: those who can join again, and those who must connect again.
    mutating func reset(to position: Position, except: Slot?) -> (rejoining: [Slot], reconnecting: [Slot]) {
        self.position = position
        self.floors = [:]
        self.v1Translator.reset()
        let rejoining = self.members.filter { $0 != except }
        let reconnecting = (self.v1Members + self.subscribers).filter { $0 != except }
        for slot in rejoining + reconnecting { self.remove(slot) }
        return (rejoining, reconnecting)
    }
}
