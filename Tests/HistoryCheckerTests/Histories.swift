import HistoryChecker

/// Hand-made histories: one that is good in every respect, for each test to spoil in one.
enum Histories {
    /// Ada and Bob in a room. Ada makes a note, drags it with previews, loses her connection with a commit under way,
    /// sends it again after `heal`; Bob misses the last update, is told so, and resumes.
    static let good: [HistoryRecord] = [
        snapshot("ada", 0, seq: 0, [:]),
        snapshot("bob", 1, seq: 0, [:]),
        invoke("ada", 2, 1, "element:create", "note", asks: "at 0"),
        request("ada", 2, 1),
        ok("ada", 5, 1, seq: 1, "at 0"),
        answer("ada", 5, 1, seq: 1),
        request("ada", 5, 2),
        deliver("ada", 6, seq: 1, "created", 1, "note", "at 0"),
        deliver("bob", 6, seq: 1, "created", 1, "note", "at 0"),
        legacy("cid", 7, seq: 1, "created", "note", "at 0"),
        left("cid", 8, chosen: true),
        previewSent("ada", 10, "note", gesture: 1),
        preview("bob", 12, "note", from: "ada", gesture: 1),
        invoke("ada", 20, 2, "element:transform", "note", gesture: 1, asks: "at 5"),
        closed("ada", 21),
        left("ada", 21),
        deliver("bob", 25, seq: 2, "transformed", 2, "note", "at 5"),
        resumed("ada", 30, seq: 1),
        deliver("ada", 30, seq: 2, "transformed", 2, "note", "at 5"),
        ok("ada", 31, 2, seq: 2, "at 5"),
        previewSent("ada", 40, "note", gesture: 2),
        preview("bob", 41, "note", from: "ada", gesture: 2),
        invoke("ada", 50, 3, "element:transform", "gone", gesture: 1),
        refused("ada", 52, 3, "unavailable", final: false),
        refused("ada", 55, 3, "not_found", final: true),
        invoke("ada", 60, 4, "element:transform", "note", gesture: 2, asks: "at 9"),
        resync("bob", 65, 3, 3),
        request("bob", 66, 1),
        answer("bob", 67, 1),
        HistoryRecord(.heal, time: 70),
        deliver("ada", 70, seq: 3, "transformed", 4, "note", "at 9"),
        ok("ada", 71, 4, seq: 3, "at 9"),
        resumed("bob", 80, seq: 2),
        deliver("bob", 80, seq: 3, "transformed", 4, "note", "at 9"),
        HistoryRecord(.quiet, time: 100),
        log(seq: 1, gseq: 1, 1, "created", "note", "at 0"),
        log(seq: 2, gseq: 2, 2, "transformed", "note", "at 5"),
        log(seq: 3, gseq: 3, 4, "transformed", "note", "at 9"),
        room(seq: 3),
        shard(gseq: 3),
        element("note", "at 9"),
        count("faults.kill.committer", 2),
    ]

    // MARK: Records

    static func request(_ client: String, _ time: Double, _ number: UInt64) -> HistoryRecord {
        var record = HistoryRecord(.request, time: time)
        (record.client, record.number) = (client, number)
        return record
    }

    static func answer(_ client: String, _ time: Double, _ number: UInt64, seq: UInt64 = 0) -> HistoryRecord {
        var record = HistoryRecord(.answer, time: time)
        (record.client, record.number, record.room, record.seq) = (client, number, "r", seq)
        return record
    }

    static func closed(_ client: String, _ time: Double) -> HistoryRecord {
        var record = HistoryRecord(.closed, time: time)
        record.client = client
        return record
    }

    static func invoke(
        _ client: String, _ time: Double, _ n: UInt64, _ event: String, _ element: String, gesture: UInt64 = 0,
        asks request: String? = nil
    ) -> HistoryRecord {
        var record = named(.invoke, client, time, n)
        record.event = event
        record.element = element
        record.gesture = gesture
        if let request { record.request = [element: request] }
        return record
    }

    static func ok(_ client: String, _ time: Double, _ n: UInt64, seq: UInt64, _ body: String) -> HistoryRecord {
        var record = named(.ok, client, time, n)
        record.seq = seq
        record.body = body
        return record
    }

    static func refused(_ client: String, _ time: Double, _ n: UInt64, _ code: String, final: Bool) -> HistoryRecord {
        var record = named(.refused, client, time, n)
        record.code = code
        record.isFinal = final
        return record
    }

    static func lost(_ client: String, _ time: Double, _ n: UInt64) -> HistoryRecord { named(.lost, client, time, n) }

    static func snapshot(_ client: String, _ time: Double, seq: UInt64, _ elements: [String: String]) -> HistoryRecord {
        var record = seen(.snapshot, client, time)
        record.epoch = "1"
        record.seq = seq
        record.elements = elements
        return record
    }

    static func resumed(_ client: String, _ time: Double, seq: UInt64) -> HistoryRecord {
        var record = seen(.resumed, client, time)
        record.epoch = "1"
        record.seq = seq
        return record
    }

    static func resync(_ client: String, _ time: Double, _ from: UInt64, _ to: UInt64) -> HistoryRecord {
        var record = seen(.resync, client, time)
        record.from = from
        record.to = to
        return record
    }

    static func deliver(
        _ client: String, _ time: Double, seq: UInt64, _ event: String, _ n: UInt64, _ element: String, _ body: String
    ) -> HistoryRecord {
        var record = seen(.deliver, client, time)
        record.seq = seq
        record.event = event
        record.session = "ada's"
        record.number = n
        record.element = element
        record.body = body
        return record
    }

    static func legacy(
        _ client: String, _ time: Double, seq: UInt64, _ event: String, _ element: String, _ body: String,
        part: UInt64 = 0, of parts: UInt64 = 0
    ) -> HistoryRecord {
        var record = seen(.legacy, client, time)
        record.seq = seq
        record.event = event
        record.element = element
        record.body = body
        (record.part, record.parts) = (part, parts)
        return record
    }

    static func left(_ client: String, _ time: Double, chosen: Bool = false) -> HistoryRecord {
        var record = seen(.left, client, time)
        record.isFinal = chosen
        return record
    }

    static func previewSent(_ client: String, _ time: Double, _ element: String, gesture: UInt64) -> HistoryRecord {
        var record = seen(.previewSent, client, time)
        record.element = element
        record.gesture = gesture
        return record
    }

    static func preview(
        _ client: String, _ time: Double, _ element: String, from sender: String, gesture: UInt64
    ) -> HistoryRecord {
        var record = seen(.preview, client, time)
        record.element = element
        record.sender = sender
        record.session = sender + "'s"
        record.gesture = gesture
        return record
    }

    static func log(
        seq: UInt64, gseq: UInt64, _ n: UInt64, _ event: String, _ element: String, _ body: String, room: String = "r",
        shard: Int = 5
    ) -> HistoryRecord {
        var record = HistoryRecord(.log)
        record.room = room
        record.seq = seq
        record.shard = shard
        record.gseq = gseq
        record.session = "ada's"
        record.number = n
        record.event = event
        record.element = element
        record.body = body
        return record
    }

    static func room(seq: UInt64, floor: UInt64 = 0, _ name: String = "r") -> HistoryRecord {
        var record = HistoryRecord(.room)
        record.room = name
        record.seq = seq
        record.floor = floor
        return record
    }

    static func shard(gseq: UInt64) -> HistoryRecord {
        var record = HistoryRecord(.shard)
        record.shard = 5
        record.gseq = gseq
        return record
    }

    static func element(_ id: String, _ body: String) -> HistoryRecord {
        var record = HistoryRecord(.element)
        record.room = "r"
        record.element = id
        record.body = body
        return record
    }

    static func count(_ name: String, _ value: Int64) -> HistoryRecord {
        var record = HistoryRecord(.count)
        record.name = name
        record.value = value
        return record
    }

    private static func seen(_ kind: HistoryRecord.Kind, _ client: String, _ time: Double) -> HistoryRecord {
        var record = HistoryRecord(kind, time: time)
        record.client = client
        record.room = "r"
        return record
    }

    private static func named(
        _ kind: HistoryRecord.Kind, _ client: String, _ time: Double, _ n: UInt64
    ) -> HistoryRecord {
        var record = seen(kind, client, time)
        record.session = client + "'s"
        record.number = n
        return record
    }
}

extension [HistoryRecord] {
    /// The history with the first record of a kind that fits changed.
    func changing(
        _ kind: HistoryRecord.Kind, where fits: (HistoryRecord) -> Bool = { _ in true },
        _ change: (inout HistoryRecord) -> Void
    ) -> Self {
        var history = self
        if let place = history.firstIndex(where: { $0.kind == kind && fits($0) }) { change(&history[place]) }
        return history
    }

    /// The history without the records that fit.
    func without(_ kind: HistoryRecord.Kind, where fits: (HistoryRecord) -> Bool = { _ in true }) -> Self {
        self.filter { !($0.kind == kind && fits($0)) }
    }

    /// The history with a record put before the first one of a kind that fits, or at the end.
    func inserting(
        _ record: HistoryRecord, before kind: HistoryRecord.Kind? = nil,
        where fits: (HistoryRecord) -> Bool = { _ in true }
    ) -> Self {
        var history = self
        history.insert(record, at: history.firstIndex { $0.kind == kind && fits($0) } ?? history.endIndex)
        return history
    }
}
