import Canvas
import PipelineTestKit
import Wire

/// Makes records whose fields take all the values that they may.
struct RecordMaker {
    private var random: SplitMix64

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
    }

    /// A record of any kind.
    mutating func record() -> any WireRecord & Equatable & Sendable {
        switch RecordKind.allCases.randomElement(using: &self.random) ?? .preview {
        case .preview: self.preview()
        case .commit: self.commit()
        case .commitResult: self.result()
        case .update: self.update()
        case .join: self.join()
        case .joinReply: self.joinReply()
        case .leave: Leave(room: self.name(), connection: self.number())
        case .roomInterest: self.interest()
        case .awareness: self.awareness()
        case .signal:
            RoomSignal(
                room: self.name(), connection: self.number(), user: self.name(), sid: self.name(),
                name: self.name().text, data: self.blob())
        case .areaInterest: AreaInterest(room: self.name())
        case .memberRenamed:
            MemberRenamed(room: self.name(), connection: self.number(), member: self.member())
        case .roomPosition: RoomPosition(room: self.name(), position: self.position(), isReset: self.flag())
        case .presence:
            Presence(room: self.name(), hasJoined: self.flag(), member: self.member(), except: self.number())
        case .roomMembers:
            RoomMembers(
                room: self.name(), after: self.name(), through: self.name(), isComplete: self.flag(),
                members: self.list { $0.member() })
        case .gestureEnd: self.gestureEnd(by: self.number())
        case .gestureEnded: GestureEnded(gesture: self.gestureEnd(), seq: self.ordinal(), json: self.blob())
        case .sessionClaimed: SessionClaimed(room: self.name(), sid: self.name(), sessionEpoch: self.small())
        case .roomRead:
            RoomRead(request: self.number(), room: self.name(), after: self.ordinal(), allowance: self.small())
        case .answerWeight:
            AnswerWeight(request: self.number(), room: self.name(), isRead: self.flag(), bytes: self.small())
        case .commitCredit: CommitCredit(commits: self.number(), bytes: self.number())
        case .rulesNotice: RulesNotice(fingerprint: self.number())
        case .interestReset: InterestReset()
        case .roomState: self.state()
        case .historyRead:
            HistoryRead(
                request: self.number(), room: self.name(), after: self.ordinal(),
                limit: UInt16(truncatingIfNeeded: self.small()))
        case .historyReply: self.history()
        }
    }

    private mutating func preview() -> Preview {
        var preview = Preview(
            room: self.name(), element: self.name(), connection: self.number(), user: self.name(), sid: self.name(),
            gesture: self.ordinal(), after: self.ordinal(), folded: self.small(), sinceLast: self.small(),
            fields: self.fields(), delta: self.flag() ? self.delta() : nil, group: self.flag() ? .member : .last)
        if self.flag() {
            let corner = self.point()
            preview.area = PreviewArea(Rect(x: corner.x, y: corner.y, width: 1, height: 2))
        }
        return preview
    }

    private mutating func delta() -> PreviewDelta {
        var fields = GestureFields()
        fields.rotation = 5
        fields.translation = self.flag() ? self.point() : nil
        fields.scale = self.flag() ? self.point() : nil
        fields.tilt = self.flag() ? self.point() : nil
        fields.anchor = self.flag() ? self.point() : nil
        return PreviewDelta(fields, pivot: self.flag() ? self.point() : nil)
    }

    private mutating func commit() -> Commit {
        Commit(
            room: self.name(), session: self.name(), sessionEpoch: self.small(), number: self.ordinal(),
            user: self.name(),
            connection: self.number(), gateway: self.name(),
            gestures: ShortList(self.list { EndedGesture(element: $0.name(), gesture: $0.ordinal()) }),
            edit: self.edit(), trace: self.trace()
        )
    }

    private mutating func trace() -> TraceID? {
        self.flag() ? TraceID(high: self.number(), low: self.number()) : nil
    }

    private mutating func edit() -> EncodedEdit {
        switch Int.random(in: 0..<11, using: &self.random) {
        case 0: return .transform(element: self.name(), fields: self.fields())
        case 1: return .create(self.item())
        case 2: return .create(self.list { $0.item() })
        case 3: return .update(element: self.name(), set: self.blob())
        case 4: return .delete(element: self.name())
        case 5:
            let items = self.list { TransformElement(element: $0.name(), fields: $0.fields()) }
            return EncodedEdit(TransformElements(items))
        case 6: return EncodedEdit(DeleteElements(self.list { $0.name() }))
        case 7: return EncodedEdit(GestureElement(element: self.name(), gesture: self.gesture()))
        case 8:
            let pivot = self.point()
            return EncodedEdit(GestureElements(self.list { $0.name() }, pivot: pivot, gesture: self.gesture()))
        case 9: return EncodedEdit(PresetElement(element: self.name(), preset: self.flag() ? .flipX : .reset))
        default: return EncodedEdit(refusal: self.refusal(), bodyHash: self.number())
        }
    }

    private mutating func gesture() -> Gesture {
        var gesture = Gesture()
        gesture.translation = self.point()
        gesture.scaleX = Double.random(in: -9...9, using: &self.random)
        gesture.tilt = self.flag() ? self.point() : .zero
        gesture.anchor = self.flag() ? self.point() : nil
        return gesture
    }

    private mutating func point() -> Point {
        Point(x: .random(in: -9...9, using: &self.random), y: .random(in: -9...9, using: &self.random))
    }

    private mutating func item() -> SentItem {
        SentItem(id: self.name(), idIsGenerated: self.flag(), json: self.blob())
    }

    private mutating func result() -> CommitResult {
        CommitResult(
            room: self.name(), session: self.name(), number: self.ordinal(), connection: self.number(),
            refusal: self.flag() ? self.refusal() : nil, seq: self.ordinal(), json: self.blob(),
            elements: .random(in: 0...9, using: &self.random), bodyHash: self.number())
    }

    private mutating func update() -> Update {
        Update(
            shard: UInt8.random(in: 0..<64, using: &self.random), gseq: self.ordinal(), room: self.name(),
            seq: self.ordinal(), event: UpdateEvent.allCases.randomElement(using: &self.random) ?? .created,
            user: self.name(), sid: self.name(), number: self.ordinal(),
            link: self.number(), chain: self.number(),
            elements: self.list { UpdatedElement(id: $0.name(), json: $0.blob(), gesture: $0.ordinal()) },
            trace: self.trace())
    }

    private mutating func join() -> Join {
        Join(
            request: self.number(), room: self.name(), connection: self.number(), member: self.member(),
            session: self.name().text, resume: self.flag() ? self.position() : nil, after: self.ordinal(),
            allowance: self.small())
    }

    private mutating func joinReply() -> JoinReply {
        let outcome: Result<JoinReply.Joined, Refusal>
        if self.flag() {
            outcome = .failure(self.refusal())
        } else {
            outcome = .success(
                .init(
                    position: self.position(),
                    content: self.flag() ? .elements(self.blob()) : .updates(self.list { $0.update() }),
                    members: self.list { $0.member() }, session: self.name().text, sid: self.name(),
                    sessionEpoch: self.small(), number: self.ordinal(), rules: self.blob(),
                    awareness: self.list { $0.list { JoinReply.Shown($0.shownAwareness(), of: $0.number()) } }))
        }
        return JoinReply(request: self.number(), room: self.name(), connection: self.number(), outcome: outcome)
    }

    private mutating func awareness() -> Awareness {
        let value: AwarenessValue =
            switch AwarenessPart.allCases.randomElement(using: &self.random) ?? .cursor {
            case .cursor: .cursor(self.flag() ? self.point() : nil)
            case .selection: .selection(self.list { $0.name() })
            case .state: .state(self.blob())
            case .viewport: .viewport(self.rect())
            }
        return Awareness(
            room: self.name(), connection: self.number(), user: self.name(), sid: self.name(), version: self.number(),
            sinceLast: self.small(), value: value)
    }

    private mutating func rect() -> Rect? {
        guard self.flag() else { return nil }
        let (origin, end) = (self.point(), self.point())
        return Rect(x: origin.x, y: origin.y, width: end.x, height: end.y)
    }

    private mutating func shownAwareness() -> ShownAwareness {
        ShownAwareness(
            sid: self.name(), cursor: self.flag() ? self.point() : nil, selection: self.list { $0.name() },
            state: self.blob(), viewport: self.rect(), version: self.number())
    }

    private mutating func interest() -> RoomInterest {
        RoomInterest(
            room: self.name(), position: self.position(),
            occupants: self.list {
                .init(
                    connection: $0.number(), member: $0.member(), awareness: $0.shownAwareness(),
                    sessionEpoch: UInt32.random(in: 0 ... .max, using: &$0.random))
            },
            hasViewports: self.flag())
    }

    private mutating func gestureEnd(by connection: UInt64 = 0) -> GestureEnd {
        GestureEnd(
            room: self.name(), element: self.name(), user: self.name(), sid: self.name(), gesture: self.ordinal(),
            connection: connection)
    }

    private mutating func state() -> RoomState {
        let outcome: RoomState.Outcome
        switch Int.random(in: 0..<3, using: &self.random) {
        case 0: outcome = .neverUsed
        case 1: outcome = .state(self.position(), elements: self.blob())
        default: outcome = .unavailable
        }
        return RoomState(request: self.number(), room: self.name(), outcome: outcome)
    }

    private mutating func history() -> HistoryReply {
        let outcome: Result<HistoryPage, Refusal>
        if self.flag() {
            outcome = .failure(self.refusal())
        } else {
            outcome = .success(
                HistoryPage(
                    entries: self.list { $0.historyEntry() }, next: self.flag() ? max(1, self.number()) : nil,
                    oldest: self.flag() ? max(1, self.number()) : nil))
        }
        return HistoryReply(request: self.number(), outcome: outcome)
    }

    private mutating func historyEntry() -> HistoryEntry {
        HistoryEntry(
            seq: self.ordinal(), at: self.name().text, event: self.name().text, user: self.name(), sid: self.name(),
            number: self.ordinal(), cause: UpdateCause.allCases.randomElement(using: &self.random) ?? .edit,
            changes: self.list { HistoryEntry.Change(element: $0.name(), before: $0.blob(), after: $0.blob()) })
    }

    private mutating func refusal() -> Refusal {
        var refusal = Refusal(
            RefusalCode.allCases.randomElement(using: &self.random) ?? .invalid, self.name().text,
            field: self.flag() ? "elements[3].type" : nil, retryAfterMs: self.flag() ? max(1, self.small()) : nil,
            expected: self.flag() ? max(1, self.number()) : nil,
            by: self.flag() ? "v" : nil)
        if self.flag() {
            refusal.entry = BlockedEntry(
                seq: max(1, self.ordinal()), event: UpdateEvent.allCases.randomElement(using: &self.random) ?? .created,
                elements: self.list { $0.name() })
        }
        return refusal
    }

    private mutating func member() -> Member {
        Member(user: self.name(), name: self.name().text, color: self.name().text)
    }

    private mutating func position() -> Position {
        Position(epoch: self.name(), seq: self.ordinal())
    }

    private mutating func fields() -> TransformFields {
        var fields = TransformFields()
        for field in ElementField.transform { fields[field] = self.double() }
        return fields
    }

    /// A position in an order, the largest included.
    private mutating func ordinal() -> UInt64 { min(self.number(), UInt64(Int64.max)) }

    private mutating func double() -> Double? {
        guard self.flag() else { return nil }
        let value = Double(bitPattern: self.random.next())
        return value.isFinite ? value : -0.0
    }

    private mutating func number() -> UInt64 {
        [0, 1, UInt64.max, 1 << 53, self.random.next()].randomElement(using: &self.random) ?? 0
    }

    private mutating func small() -> UInt32 {
        [0, 1, UInt32.max, UInt32.random(in: 0...UInt32.max, using: &self.random)].randomElement(using: &self.random)
            ?? 0
    }

    private mutating func flag() -> Bool {
        Bool.random(using: &self.random)
    }

    private mutating func name() -> Identifier {
        let alphabet: [Character] = ["a", "Z", "0", ".", "-", "é", "e\u{301}", "ß", "漢", "👩‍👩‍👧", "\0", " "]
        let count = Int.random(in: 0..<12, using: &self.random)
        return Identifier(String((0..<count).compactMap { _ in alphabet.randomElement(using: &self.random) }))
    }

    private mutating func blob() -> [UInt8] {
        let count = [0, 1, 2, 300].randomElement(using: &self.random) ?? 0
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: self.random.next()) }
    }

    private mutating func list<T>(_ make: (inout RecordMaker) -> T) -> [T] {
        (0..<Int.random(in: 0..<5, using: &self.random)).map { _ in make(&self) }
    }
}
