import Canvas
import PipelineTestKit
import Wire

/// One record of every kind at least. Their bytes are in `Tests/Golden`.
enum Samples {
    static let preview = Preview(
        room: "r1", element: "é", connection: 0x0102_0304_0506_0708, user: "u", sid: "s", gesture: 3, after: 9,
        folded: 2,
        sinceLast: 16, fields: TransformFields(positionX: 1.5, rotation: 90, scaleX: -2))

    static let delta = Preview(
        room: "r1", element: "e", connection: 5, user: "u", sid: "s", gesture: 3, fields: TransformFields(),
        delta: PreviewDelta(.sample, pivot: Point(x: 5, y: 6)), group: .member)

    /// With the area (-1.5, 2)…(3, 4.25).
    static let located = {
        var preview = delta
        preview.area = PreviewArea(Rect(x: -1.5, y: 2, width: 4.5, height: 2.25))
        return preview
    }()

    /// With the area of a point.
    static let cursor = {
        var cursor = shown(.cursor(Point(x: 1.5, y: 90)))
        (cursor.sinceLast, cursor.area) = (16, PreviewArea(Rect(x: 1.5, y: 90, width: 0, height: 0)))
        return cursor
    }()

    static let selection = shown(.selection(["e", "f"]))

    static let appState = shown(.state(Array(#"{"tool":"pen"}"#.utf8)))

    static let viewport = shown(.viewport(Rect(x: -5, y: 7, width: 800, height: 600.5)))

    static let hiddenViewport = shown(.viewport(nil))

    private static func shown(_ value: AwarenessValue) -> Awareness {
        Awareness(room: "r1", connection: 5, user: "u", sid: "s", version: 3, value: value)
    }

    static let signal = RoomSignal(
        room: "r1", connection: 5, user: "u", sid: "s", name: "wave", data: Array("[1]".utf8))

    static let transform = Commit(
        room: "r1", session: "s", sessionEpoch: 2, number: 7, user: "u", connection: 5,
        gateway: "gateway-1", gestures: [EndedGesture(element: "e", gesture: 4)],
        edit: .transform(element: "e", fields: TransformFields(positionY: 2, scaleY: 0.5, width: 10, height: 20)))

    static let trace = TraceID(high: 0x0102_0304_0506_0708, low: 0x1112_1314_1516_1718) ?? { preconditionFailure() }()

    static let traced = {
        var commit = delete
        commit.trace = trace
        return commit
    }()

    static let create = commit(.create(SentItem(id: "e", idIsGenerated: true, json: Array("{}".utf8))))

    static let createMany = commit(.create([SentItem(id: "e", json: Array("{}".utf8))]))

    static let update = commit(.update(element: "e", set: Array("{\"locked\":true}".utf8)))

    static let delete = commit(.delete(element: "e"))

    static let transformMany = commit(
        EncodedEdit(
            TransformElements([
                TransformElement(element: "e", fields: TransformFields(positionX: 1)),
                TransformElement(element: "f", fields: TransformFields(rotation: 90)),
            ])))

    static let deleteMany = commit(EncodedEdit(DeleteElements(["e", "f"])))

    static let gesture = commit(EncodedEdit(GestureElement(element: "e", gesture: .sample)))

    static let gestureMany = commit(
        EncodedEdit(GestureElements(["e"], pivot: Point(x: 5, y: 6), gesture: .doubling)))

    static let preset = commit(EncodedEdit(PresetElement(element: "e", preset: .flipX)))

    static let undo = commit(EncodedEdit(UndoEdit()))
    static let redo = commit(EncodedEdit(RedoEdit(past: 9)))
    static let grouped = commit(EncodedEdit(DeleteElement(element: "e")), .group("drag"))
    static let programmatic = commit(EncodedEdit(DeleteElement(element: "e")), .none)

    static let refuse = commit(
        EncodedEdit(refusal: Refusal(.invalid, "no", field: "n"), bodyHash: 0xFEED))

    static let applied = CommitResult(
        room: "r1", session: "s", number: 7, connection: 5, refusal: nil, seq: 11, json: Array("{}".utf8),
        elements: 3, bodyHash: 0xFEED)

    static let refused = CommitResult(
        room: "r1", session: "s", number: 9, connection: 5, refusal: Refusal(.gap, "g", retryAfterMs: 250, expected: 8),
        seq: 0, json: [], elements: 3, bodyHash: 0xFEED)

    static let blocked = {
        var sample = refused
        sample.refusal = Refusal(.conflict, "m", field: "undo", by: "ben")
        sample.refusal?.entry = BlockedEntry(seq: 7, event: .createdMany, elements: ["e", "f"])
        return sample
    }()

    static let moved = moved(by: nil)

    static let tracedUpdate = moved(by: trace)

    private static func moved(by trace: TraceID?) -> Update {
        Update(
            shard: 63, gseq: 100, room: "r1", seq: 11, event: .transformed, user: "u", sid: "s", number: 7,
            link: 0x0102_0304_0506_0708, chain: 0x1112_1314_1516_1718,
            elements: [UpdatedElement(id: "e", json: Array("{}".utf8), gesture: 4)], trace: trace)
    }

    static let undone = Update(
        shard: 63, gseq: 100, room: "r1", seq: 11, event: .changedMany, user: "u", sid: "s", number: 7,
        elements: [
            UpdatedElement(id: "a", json: Array("{}".utf8), isNew: true), UpdatedElement(id: "b", json: []),
        ], cause: .undo)

    static let ada = Member(user: "u", name: "Ada", color: "#f00")

    static let join = Join(
        request: 1, room: "r1", connection: 5, member: ada, session: "s.x", resume: Position(epoch: "ep", seq: 10))

    static let joined = JoinReply(
        request: 1, room: "r1", connection: 5,
        outcome: .success(
            .init(
                position: Position(epoch: "ep", seq: 11), content: .elements(Array("[]".utf8)), members: [ada],
                session: "s.x", sid: "s", sessionEpoch: 2, number: 7)))

    static let resumed = JoinReply(
        request: 1, room: "r1", connection: 5,
        outcome: .success(
            .init(
                position: Position(epoch: "ep", seq: 11), content: .updates([moved]), members: [], session: "s.x",
                sid: "s", sessionEpoch: 2, number: 7)))

    static let notJoined = JoinReply(
        request: 1, room: "r1", connection: 5, outcome: .failure(Refusal(.sessionExpired, "x")))

    static let leave = Leave(room: "r1", connection: 5)

    static let interest = RoomInterest(
        room: "r1", position: Position(epoch: "ep", seq: 11),
        occupants: [.init(connection: 5, member: ada, awareness: awareness, sessionEpoch: 3)],
        hasViewports: true)

    static let awareness = ShownAwareness(
        sid: "s1", cursor: Point(x: 1.5, y: -2), selection: ["e", "é"], state: Array("{}".utf8),
        viewport: Rect(x: 1, y: 2, width: 3, height: 4), version: 3)

    static let areas = AreaInterest(room: "r1")

    static let position = RoomPosition(room: "r1", position: Position(epoch: "ep", seq: 11), isReset: true)

    static let presence = Presence(room: "r1", hasJoined: true, member: ada, except: 5)

    static let renamed = MemberRenamed(room: "r1", connection: 5, member: ada)

    static let members = RoomMembers(room: "r1", after: "t", through: "u", isComplete: true, members: [ada])

    static let gestureEnd = GestureEnd(room: "r1", element: "e", user: "u", sid: "s", gesture: 4, connection: 9)

    static let gestureEnded = GestureEnded(
        gesture: GestureEnd(room: "r1", element: "e", user: "u", sid: "s", gesture: 4), seq: 11, json: Array("{}".utf8))

    static let claimed = SessionClaimed(room: "r1", sid: "s", sessionEpoch: 3)

    static let read = RoomRead(request: 1, room: "r1")

    static let neverUsed = RoomState(request: 1, room: "r1", outcome: .neverUsed)

    static let state = RoomState(
        request: 1, room: "r1", outcome: .state(Position(epoch: "ep", seq: 11), elements: Array("[]".utf8)))

    static let unavailable = RoomState(request: 1, room: "r1", outcome: .unavailable)

    static let historyRead = HistoryRead(request: 1, room: "r1", after: 11, limit: 50)

    static let history = HistoryReply(
        request: 1,
        outcome: .success(
            HistoryPage(
                entries: [
                    HistoryEntry(
                        seq: 12, at: "2026-01-02T03:04:05.678Z", event: "element:transformed", user: "u", sid: "s",
                        number: 7, cause: .redo,
                        changes: [HistoryEntry.Change(element: "e", before: [], after: Array("{}".utf8))])
                ], next: 12, oldest: 3)))

    static let noHistory = HistoryReply(
        request: 1, outcome: .failure(Refusal(.notFound, "x", field: "roomId")))

    static let credit = CommitCredit(commits: 4096, bytes: 8 << 20)

    static let rules = RulesNotice(fingerprint: 0x0123_4567_89ab_cdef)

    static let interestReset = InterestReset()

    static let weight = AnswerWeight(request: 1, room: "r1", isRead: true, bytes: 70_000)

    /// Every sample, for checks that ask the same of all.
    static let all: [any WireRecord & Equatable & Sendable] = [
        preview, delta, located, cursor, selection, appState, viewport, hiddenViewport, signal, transform, create,
        createMany,
        update, delete,
        transformMany, deleteMany, gesture, gestureMany, preset, undo, redo, grouped, programmatic,
        refuse, traced, applied, refused, blocked, moved, tracedUpdate, undone, join, joined, resumed,
        notJoined,
        leave, interest, areas, position, presence, renamed, members, gestureEnd, gestureEnded, claimed, read,
        neverUsed,
        state, unavailable, historyRead, history, noHistory,
        credit, rules, interestReset, weight,
    ]

    private static func commit(_ edit: EncodedEdit, _ undo: UndoPolicy = .entry) -> Commit {
        var edit = edit
        edit.undo = undo
        return Commit(
            room: "r1", session: "s.1", sessionEpoch: 1, number: 1, user: "u", connection: 5,
            gateway: "g", gestures: [], edit: edit)
    }
}

extension Gesture {
    fileprivate static var sample: Gesture {
        var gesture = Gesture()
        gesture.translation = Point(x: 1, y: -2)
        (gesture.scaleX, gesture.scaleY, gesture.rotation) = (1.5, 1.5, 30)
        gesture.tilt = Point(x: 10, y: -20)
        gesture.anchor = Point(x: 0, y: 1)
        return gesture
    }

    fileprivate static var doubling: Gesture {
        var gesture = Gesture()
        (gesture.scaleX, gesture.scaleY) = (2, 2)
        return gesture
    }
}

extension GestureFields {
    fileprivate static var sample: GestureFields {
        var fields = GestureFields()
        fields.translation = Point(x: 1, y: -2)
        fields.rotation = 30
        fields.tilt = Point(x: 10, y: -20)
        return fields
    }
}
