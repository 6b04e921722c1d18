import Canvas
import JSONBytes
import PipelineTestKit
import Wire

@testable import CommitterCore

extension SplitMix64 {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

func transform(_ element: Identifier, x: Double? = nil, rotation: Double? = nil, scaleX: Double? = nil) -> EncodedEdit {
    .transform(element: element, fields: TransformFields(positionX: x, rotation: rotation, scaleX: scaleX))
}

func create(_ id: Identifier, _ json: String = #"{"type":"note"}"#, generated: Bool = false) -> EncodedEdit {
    .create(SentItem(id: id, idIsGenerated: generated, json: Array(json.utf8)))
}

func createMany(_ items: [(Identifier, String)]) -> EncodedEdit {
    .create(items.map { SentItem(id: $0.0, json: Array($0.1.utf8)) })
}

func update(_ element: Identifier, _ set: String) -> EncodedEdit {
    .update(element: element, set: Array(set.utf8))
}

func commit(
    _ number: UInt64, _ edit: EncodedEdit, room: Identifier = "room", session: Identifier = "s1",
    sessionEpoch: UInt32 = 1,
    user: Identifier = "ann", gateway: Identifier = "gateway-1", connection: UInt64 = 7, gesture: UInt64 = 0
) -> Commit {
    Commit(
        room: room, session: session, sessionEpoch: sessionEpoch, number: number, user: user,
        connection: connection, gateway: gateway,
        gestures: gesture == 0 ? [] : edit.soleElement.map { [EndedGesture(element: $0, gesture: gesture)] } ?? [],
        edit: edit)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension ShardLedger.Settlement {
    var texts: [String] { self.results.map { text($0.result.json) } }
    var refusals: [Refusal?] { self.results.map(\.result.refusal) }

    /// Adds the effects of a later event.
    mutating func append(_ other: Self) {
        self.results += other.results
        self.updates += other.updates
        self.commits += other.commits
        self.bytes += other.bytes
        self.finished.merge(other.finished) { $0 + $1 }
        self.tally.add(other.tally)
        self.arrivals += other.arrivals
        self.expired += other.expired
        self.abandoned += other.abandoned
    }
}
