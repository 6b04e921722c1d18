internal import JSONBytes
internal import Stages

/// One object, the same for the page and for scripts:
///
///     {"at":…,"rounds":…,"coalescingRatio":…,
///      "stages":[{"stage":"gateway","ready":1,"figures":{"commitsIn":…},"drops":{"previews_dropped":…},
///                 "instances":[{"name":…,"condition":"ready",…}]}],
///      "findings":[{"trouble":"slow-apps","severity":"warning","title":…,"advice":…,"stage":…,"name":…,"reason":…,
///                   "since":…}],
///      "past":[…,"until":…,"times":1],
///      "distributions":{"commitLatency":{"bounds":[…],"counts":[…],"p50":…,"p90":…,"p99":…}}}
///
/// Figures that are unknown are left out. Times are milliseconds since 1970, spans seconds.
extension PipelineHistory {
    /// The object as a text.
    package var json: [UInt8] { JSONWriter.text { self.members(into: &$0) } }

    /// Its members, for an object that has more.
    func members(into writer: inout JSONWriter) {
        writer.member("at", self.at)
        writer.member("rounds", self.rounds)
        writer.member("coalescingRatio", self.coalescingRatio)
        writer.objects("stages", self.stages) { $0.members(into: &$1) }
        writer.objects("findings", self.findings) { $0.members(into: &$1) }
        writer.objects("past", self.journal.past.reversed()) { $0.members(into: &$1) }
        writer.distributions(self.observed)
    }
}

extension StageOverview {
    fileprivate func members(into writer: inout JSONWriter) {
        writer.member("stage", self.stage.rawValue)
        writer.member("ready", self.readyCount)
        writer.member("figures", self.figures)
        writer.member("drops", RatesByKind(self.drops))
        writer.objects("instances", self.instances) { $0.members(into: &$1) }
    }
}

extension InstanceHistory {
    fileprivate func members(into writer: inout JSONWriter) {
        let (sample, health) = (self.sample, self.sample?.health)
        writer.member("name", self.daemon.name)
        writer.member("pid", self.daemon.pid)
        writer.member("admin", self.daemon.admin?.authority)
        writer.member("condition", self.condition.rawValue)
        writer.member("version", sample?.version)
        writer.member("startedAt", sample?.startedAt)
        writer.objects("reasons", health?.reasons ?? []) { $0.members(into: &$1) }
        writer.objects("notes", health?.notes ?? []) { $0.members(into: &$1) }
        writer.member("stalled", health?.stalled ?? [])
        writer.member("figures", self.figures)
        writer.member("drops", RatesByKind(self.drops(over: 60)))
        writer.distributions { self.observed($0, in: self.points) }
    }
}

extension DaemonHealth.Reason {
    fileprivate func members(into writer: inout JSONWriter) {
        writer.member("check", self.check)
        writer.member("text", self.text)
    }
}

extension PipelineFinding {
    fileprivate func members(into writer: inout JSONWriter) {
        writer.member("trouble", self.trouble.rawValue)
        writer.member("severity", self.trouble.severity.rawValue)
        writer.member("title", self.trouble.title)
        writer.member("advice", self.trouble.advice)
        writer.member("stage", self.daemon.stage.rawValue)
        writer.member("name", self.daemon.name)
        writer.member("reason", self.reason)
        writer.member("since", self.since)
        writer.member("until", ifPresent: self.until)
        writer.member("times", self.times)
    }
}

extension FigureSet: JSONEncodable {
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        for figure in PipelineFigure.allCases {
            guard let value = self[figure] else { continue }
            writer.key(string: figure.rawValue)
            writer.value(value.brief)
        }
        writer.endObject()
    }
}

/// Rates by the name of what is counted, in the order of the names.
private struct RatesByKind: JSONEncodable {
    private let rates: [String: Double]

    init(_ rates: [String: Double]) { self.rates = rates }

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        for (kind, rate) in self.rates.sorted(by: { $0.key < $1.key }) where rate > 0 {
            writer.key(string: kind)
            writer.value(rate.brief)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    /// The member `distributions`: an object of those that there are.
    fileprivate mutating func distributions(_ observed: (Distribution) -> BucketCounts?) {
        self.object("distributions") { writer in
            for distribution in Distribution.allCases {
                guard let counts = observed(distribution) else { continue }
                writer.key(string: distribution.rawValue)
                counts.encode(into: &writer)
            }
        }
    }
}

extension BucketCounts: JSONEncodable {
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("bounds", self.bounds)
        writer.member("counts", self.counts)
        writer.member("p50", self.quantile(0.5)?.brief)
        writer.member("p90", self.quantile(0.9)?.brief)
        writer.member("p99", self.quantile(0.99)?.brief)
        writer.endObject()
    }
}

extension Double {
    /// About five significant digits: what people can use, in half the bytes.
    var brief: Double {
        guard self.isFinite, self != 0 else { return self }
        var unit = 1.0
        let size = self.magnitude
        while size * unit < 10_000, unit < 1e9 { unit *= 10 }
        return (self * unit).rounded() / unit
    }
}
