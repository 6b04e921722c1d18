internal import DequeModule
internal import JSONBytes
internal import Stages

/// The last 15 minutes in columns of five seconds, as much of them as a reader lacks:
///
///     {"step":5000,"from":…,"instances":[{"stage":…,"name":…,"conditions":[["ready",from,to],…],
///                                         "figures":{"commitsIn":[…]}}],
///      "heat":{"commitLatency":{"bounds":[…],"columns":[[bucket,count,…],…]}}}
///
/// A column's rates are means, its values maxima; null where nothing is known. `conditions` always goes back 15 minutes,
/// to the second: an outage shorter than a column is not lost.
struct OverviewColumns {
    private let history: PipelineHistory
    /// The start of the first column, milliseconds since 1970.
    private let from: UInt64
    private let count: Int

    /// The length of a column, milliseconds.
    static let step: UInt64 = 5000
    private static let most = InstanceHistory.length / 5 + 1
    private static let figures: [PipelineFigure] = [
        .previewsIn, .previewsOut, .commitsIn, .commitsOut, .updatesIn, .updatesOut, .queueAge, .previewQueueAge,
        .previewLateness, .cpu, .memoryBytes, .batches, .replays, .slowApps,
    ]

    /// - Parameter since: the start of the last column that the reader has, milliseconds since 1970; it gets that one
    ///   again, which may have been incomplete.
    init(_ history: PipelineHistory, since: UInt64) {
        self.history = history
        let last = history.at / Self.step
        let oldest = history.instances.compactMap { $0.points.first?.at }.min() ?? 0
        let first = max(min(since / Self.step, last), oldest / Self.step, last - min(last, UInt64(Self.most - 1)))
        self.from = min(first, last) * Self.step
        self.count = Int(last - min(first, last)) + 1
    }

    func members(into writer: inout JSONWriter) {
        writer.member("step", Self.step)
        writer.member("from", self.from)
        writer.objects("instances", self.history.instances) { instance, writer in
            self.members(of: instance, into: &writer)
        }
        writer.object("heat") { writer in
            for distribution in Distribution.allCases { self.heat(distribution, into: &writer) }
        }
    }

    private func members(of instance: InstanceHistory, into writer: inout JSONWriter) {
        writer.member("stage", instance.daemon.stage.rawValue)
        writer.member("name", instance.daemon.name)
        self.conditions(of: instance, into: &writer)
        let columns = self.columns(of: instance)
        writer.object("figures") { writer in
            for figure in Self.figures {
                let values = columns.map { Self.value(figure, in: $0) }
                guard values.contains(where: { $0 != nil }) else { continue }
                writer.key(string: figure.rawValue)
                values.encode(into: &writer)
            }
        }
    }

    /// Runs of one condition, each with its first round and the round after its last.
    private func conditions(of instance: InstanceHistory, into writer: inout JSONWriter) {
        writer.key("conditions")
        writer.beginArray()
        var start = instance.points.startIndex
        while start < instance.points.endIndex {
            let condition = instance.points[start].condition
            let end = instance.points[start...].firstIndex { $0.condition != condition } ?? instance.points.endIndex
            writer.beginArray()
            writer.value(condition.rawValue)
            writer.value(instance.points[start].at)
            let after = end < instance.points.endIndex ? instance.points[end].at : instance.points[end - 1].at
            writer.value(after)
            writer.endArray()
            start = end
        }
        writer.endArray()
    }

    private func columns(of instance: InstanceHistory) -> [[SecondPoint]] {
        var columns = [[SecondPoint]](repeating: [], count: self.count)
        for point in instance.points.reversed() {
            guard point.at >= self.from else { break }
            let index = Int((point.at - self.from) / Self.step)
            if index < self.count { columns[index].append(point) }
        }
        return columns
    }

    private static func value(_ figure: PipelineFigure, in points: [SecondPoint]) -> Double? {
        let known = points.compactMap { $0.figures[figure] }
        guard let most = known.max() else { return nil }
        return (figure.kind == .rate ? known.reduce(0, +) / Double(known.count) : most).brief
    }

    private func heat(_ distribution: Distribution, into writer: inout JSONWriter) {
        guard let bounds = self.history.instances.lazy.compactMap({ $0.bounds[distribution] }).first else { return }
        var sums = [BucketCounts?](repeating: nil, count: self.count)
        for instance in self.history.instances where instance.bounds[distribution] == bounds {
            for (index, points) in self.columns(of: instance).enumerated() {
                guard let counts = instance.observed(distribution, in: points) else { continue }
                if sums[index] == nil { sums[index] = counts } else { sums[index]?.add(counts) }
            }
        }
        writer.key(string: distribution.rawValue)
        writer.beginObject()
        writer.member("bounds", bounds)
        writer.member("columns", sums.map { Self.sparse($0?.counts ?? []) })
        writer.endObject()
    }

    /// Bucket and count of each bucket that is not empty.
    private static func sparse(_ counts: [UInt64]) -> [UInt64] {
        counts.enumerated().filter { $0.element > 0 }.flatMap { [UInt64($0.offset), $0.element] }
    }
}

extension PipelineHistory {
    /// The overview and the columns that a reader lacks: one object with the members of both, the second under
    /// `history`. Of four daemons about 60 KB for a new reader, and 5 KB for one that reads every second.
    /// - Parameters:
    ///   - since: the start of the last column that the reader has, milliseconds since 1970; 0 for all.
    ///   - refusal: why the list of daemons does not count.
    func json(since: UInt64, listRefusal refusal: String? = nil) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("listRefusal", refusal)
            self.members(into: &writer)
            writer.object("history") { OverviewColumns(self, since: since).members(into: &$0) }
        }
    }
}
