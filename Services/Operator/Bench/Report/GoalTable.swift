/// The figures of several loads beside what they should reach.
package enum GoalTable {
    /// A table, one line for each goal.
    package static func text(_ results: some Sequence<(NamedLoad, BenchReport)>) -> String {
        var rows = [["load", "figure", "measured", "goal", ""]]
        for (named, report) in results {
            for goal in named.goals {
                let value = goal.figure.value(in: report).map(Figures.short) ?? "-"
                let bound = "\(goal.figure.wantsMore ? "≥" : "≤") \(Figures.short(goal.bound))"
                let doubt = report.bottlenecks.isEmpty ? "" : ", by this program itself?"
                let verdict = goal.isMet(by: report).map { $0 ? "met" : "missed\(doubt)" } ?? "not measured"
                rows.append([named.name, goal.figure.title, value, bound, verdict])
            }
        }
        return Figures.table(rows, toTheLeft: 2)
    }
}
