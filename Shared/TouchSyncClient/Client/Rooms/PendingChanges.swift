import TouchSyncClientCore

/// What a consumer has not heard yet: of each kind once, so that a slow one has more to do at once, but not more to wait
/// for, and misses nothing that it could not read anew.
struct PendingChanges: Sendable {
    private enum Kind: Sendable {
        case elements, moving, still, members, awareness, signals, status, refusals, left
    }

    /// More elements than this are all elements.
    static let mostElements = 32768
    /// More awareness than this is all members.
    static let mostShifts = 1024
    /// Older refusals and signals than these are forgotten.
    static let mostRefusals = 64, mostSignals = 256

    /// The kinds that wait, in the order in which they came.
    private var kinds: [Kind] = []
    private var elements = IdSet()
    private var isAllElements = false
    private var moving = IdSet()
    private var still = IdSet()
    private var shifts = LatestShifts()
    private var status: RoomChange?
    private var refusals: [ClientError] = []
    private var signals: [MemberSignal] = []

    mutating func add(_ change: RoomChange) {
        switch change {
        case .elements(let ids): self.addElements(ids)
        case .allElements: self.addAllElements()
        case .moving(let ids):
            self.moving.formUnion(ids)
            self.queue(.moving)
        case .still(let ids):
            self.still.formUnion(ids)
            self.queue(.still)
        case .members: self.queue(.members)
        case .awareness(let userId, let sid, let shift): self.addShift(userId, sid, shift)
        case .signal(let signal): self.addSignal(signal)
        case .joined, .denied: self.addStatus(change)
        case .refusal(let error): self.addRefusal(error)
        case .left: self.addLeft()
        }
    }

    mutating func next() -> RoomChange? {
        guard let kind = self.kinds.first else { return nil }
        switch kind {
        case .awareness where self.shifts.count > 1: return self.shifts.takeFirst()
        case .signals where self.signals.count > 1: return .signal(self.signals.removeFirst())
        case .refusals where self.refusals.count > 1: return .refusal(self.refusals.removeFirst())
        default: self.kinds.removeFirst()
        }
        switch kind {
        case .elements: return self.takeElements()
        case .moving: return .moving(self.moving.takeTexts())
        case .still: return .still(self.still.takeTexts())
        case .members: return .members
        case .awareness: return self.shifts.takeFirst()
        case .status: return self.takeStatus()
        case .signals: return self.signals.popLast().map { .signal($0) }
        case .refusals: return self.refusals.popLast().map { .refusal($0) }
        case .left: return .left
        }
    }

    private mutating func queue(_ kind: Kind) {
        if !self.kinds.contains(kind) { self.kinds.append(kind) }
    }

    // MARK: Elements

    private mutating func addElements(_ ids: [String]) {
        if !self.isAllElements { self.elements.formUnion(ids) }
        self.queue(.elements)
        if self.elements.count > Self.mostElements { self.addAllElements() }
    }

    private mutating func addAllElements() {
        self.isAllElements = true
        self.elements = IdSet()
        self.queue(.elements)
    }

    private mutating func takeElements() -> RoomChange {
        defer { self.isAllElements = false }
        return self.isAllElements ? .allElements : .elements(self.elements.takeTexts())
    }

    // MARK: People, joins, refusals

    private mutating func addShift(_ userId: String, _ sid: String, _ shift: AwarenessShift) {
        let place = ShiftPlace(sid: TextKey(sid), shift)
        guard self.shifts.contains(place) || self.shifts.count < Self.mostShifts else { return self.queue(.members) }
        self.shifts.set(.awareness(userId: userId, sid: sid, shift), at: place)
        self.queue(.awareness)
    }

    /// The latest one counts; that elements were replaced is not forgotten.
    private mutating func addStatus(_ change: RoomChange) {
        if case .joined(recovered: false) = self.status, case .joined = change { return }
        self.status = change
        self.queue(.status)
    }

    private mutating func takeStatus() -> RoomChange? {
        defer { self.status = nil }
        return self.status
    }

    /// Pending changes describe state that was dropped with the room, so they are discarded; later ones describe the room
    /// as it is joined next. Refusals are kept.
    private mutating func addLeft() {
        let refusals = self.refusals
        self = PendingChanges()
        for refusal in refusals { self.addRefusal(refusal) }
        self.queue(.left)
    }

    private mutating func addSignal(_ signal: MemberSignal) {
        if self.signals.count == Self.mostSignals { self.signals.removeFirst() }
        self.signals.append(signal)
        self.queue(.signals)
    }

    private mutating func addRefusal(_ error: ClientError) {
        if self.refusals.count == Self.mostRefusals { self.refusals.removeFirst() }
        self.refusals.append(error)
        self.queue(.refusals)
    }
}

/// Whose it is, and what of it.
private struct ShiftPlace: Hashable, Sendable {
    let sid: TextKey
    let part: Int

    init(sid: TextKey, _ shift: AwarenessShift) {
        self.sid = sid
        self.part =
            switch shift {
            case .cursor: 0
            case .selection: 1
            case .state: 2
            case .viewport: 3
            }
    }
}

/// The latest of each part of each connection, in the order in which there first was one.
private struct LatestShifts: Sendable {
    private var changes: [ShiftPlace: RoomChange] = [:]
    /// Those that came since `leaving` was filled, the newest last.
    private var arrived: [ShiftPlace] = []
    /// Those that are taken next, from the end.
    private var leaving: [ShiftPlace] = []

    var count: Int { self.changes.count }

    func contains(_ place: ShiftPlace) -> Bool { self.changes[place] != nil }

    mutating func set(_ change: RoomChange, at place: ShiftPlace) {
        if self.changes.updateValue(change, forKey: place) == nil { self.arrived.append(place) }
    }

    mutating func takeFirst() -> RoomChange? {
        if self.leaving.isEmpty { (self.leaving, self.arrived) = (self.arrived.reversed(), []) }
        guard let place = self.leaving.popLast() else { return nil }
        return self.changes.removeValue(forKey: place)
    }
}

extension IdSet {
    fileprivate mutating func formUnion(_ ids: [String]) {
        for id in ids { self.insert(TextKey(id)) }
    }

    fileprivate mutating func takeTexts() -> [String] { self.takeAll().map(\.text) }
}
