import Canvas
import CommitterCore
import JSONBytes
import PipelineTestKit
import Testing
import Wire

@Suite struct CommitterPropertyTests {
    @Test(arguments: 0..<60)
    func promisesHoldWhateverHappens(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        simulation.run(steps: 3000)
        let problems = simulation.failures + simulation.database.violations + simulation.check()
        #expect(problems.isEmpty, "seed \(seed)")
    }

    /// The walks above prove nothing unless they meet every kind of trouble.
    @Test func walksMeetEveryKindOfTrouble() {
        var seen: [String: Int] = [:]
        for seed in 100..<110 {
            var simulation = Simulation(seed: UInt64(seed))
            simulation.run(steps: 3000)
            seen.merge(simulation.seen, uniquingKeysWith: +)
        }
        for kind in [
            "written", "stale", "refusedData", "lost written", "lost unwritten", "written late", "transient", "resumed",
            "same again", "gap", "conflict", "gone", "not_found", "forbidden", "invalid", "session_expired",
            "unavailable", "busy", "too_large",
        ] {
            #expect(seen[kind, default: 0] > 0, "\(kind) in \(seen)")
        }
    }
}

extension Simulation {
    /// What a reader of the database and of the answers can check afterwards.
    func check() -> [String] {
        var problems: [String] = []
        var rows: [CommitKey: ShardBatch.LogRow] = [:]
        var lastNumbers: [StreamKey: UInt64] = [:]
        for (index, row) in self.database.log.enumerated() {
            if row.gseq != UInt64(index) + 1 { problems.append("gseq \(row.gseq) at \(index)") }
            let stream = StreamKey(row.room, row.session)
            rows[CommitKey(stream, row.number)] = row
            if lastNumbers[stream, default: 0] >= row.number { problems.append("\(row.session) out of order") }
            lastNumbers[stream] = row.number
        }
        for client in self.clients {
            for (number, result) in client.results {
                let row = rows[CommitKey(client.key, number)]
                if result.refusal == nil, row?.seq != result.seq { problems.append("acked, but not stored") }
                if result.refusal != nil, row != nil { problems.append("refused, but stored") }
                if result.refusal == nil, let row { problems += Self.compare(result, row) }
            }
        }
        for (gseq, update) in self.published {
            guard let row = self.database.log.first(where: { $0.gseq == gseq }) else {
                return ["published, not stored"]
            }
            if update.seq != row.seq || update.room != row.room || update.event != row.event {
                problems.append("update \(gseq) is not the log's")
            }
        }
        return problems + self.foldProblems()
    }

    /// The acknowledged elements are the stored ones.
    private static func compare(_ result: CommitResult, _ row: ShardBatch.LogRow) -> [String] {
        var document = JSONDocument()
        do { try document.parse(result.json, limits: Element.jsonLimits) } catch { return ["an ack is no JSON"] }
        let root = document.root
        guard root["ok"]?.bool == true, root["seq"]?.integer == Int64(row.seq) else { return ["an ack lies"] }
        if let value = root["element"] ?? root["elements"], Array(value.rawBytes) != row.after ?? [] {
            return ["an ack's elements are not the stored ones"]
        }
        return []
    }

    /// The tables are what the requests give when they are applied in the log's order, one after the other.
    private func foldProblems() -> [String] {
        var problems: [String] = []
        var elements: [ElementKey: Element] = [:]
        for row in self.database.log {
            guard let client = self.clients.first(where: { $0.key == StreamKey(row.room, row.session) }) else {
                continue
            }
            let edit = client.edits[Int(row.number) - 1]
            if let transform = try? edit.decode(TransformElement.self), edit.tag == TransformElement.tag {
                let key = ElementKey(row.room, transform.element)
                guard var element = elements[key] else { return ["a transform of nothing"] }
                _ = RulesTable.defaults.apply(transform.fields, to: &element)
                element.recordChange(by: row.user.text)
                elements[key] = element
                if row.after != Self.encoded(element) { problems.append("not what was asked for, clamped") }
            } else if let update = try? edit.decode(UpdateElement.self), edit.tag == UpdateElement.tag {
                elements[ElementKey(row.room, update.element)] = Self.element(row.after)
            } else if let items = Self.created(by: edit) {
                for item in items {
                    let key = ElementKey(row.room, item.id)
                    if elements[key] != nil { problems.append("created twice") }
                    elements[key] = RulesTable.defaults.create(item.fields, id: item.id.text, by: row.user.text).0
                }
            } else if let delete = try? edit.decode(DeleteElement.self), edit.tag == DeleteElement.tag {
                elements = elements.filter { key, element in
                    let parent = element.parentId.map { Identifier($0) }
                    return key.room != row.room || (key.element != delete.element && parent != delete.element)
                }
            } else {
                problems.append("a refused commit was applied")
            }
        }
        let living = self.database.elements.filter { !$0.value.isDeleted }.mapValues(\.element)
        if living != elements { problems.append("the elements are not the log's sum") }
        return problems
    }

    private static func created(by edit: EncodedEdit) -> [NewItem]? {
        switch edit.tag {
        case CreateElement.tag: (try? edit.decode(CreateElement.self)).map { [$0.item] }
        case CreateElements.tag: (try? edit.decode(CreateElements.self))?.items
        default: nil
        }
    }

    private static func element(_ json: [UInt8]?) -> Element? {
        var document = JSONDocument()
        do { try document.parse(json ?? [], limits: Element.jsonLimits) } catch { return nil }
        return Element(json: document.root)
    }

    private static func encoded(_ element: Element) -> [UInt8] {
        var writer = JSONWriter()
        element.encode(into: &writer)
        return writer.bytes
    }
}
