/// The metrics of several loads next to their goals.
package enum GoalTable {
    /// A table, one line for each goal.
    package static func text(_ reports: [BenchReport]) -> String {
        var rows = [["load", "figure", "measured", "goal", ""]]
        for report in reports {
            for goal in report.named.goals {
                let value = goal.value(in: report, among: reports).map(Figures.short) ?? "-"
                let bound = "\(goal.figure.wantsMore ? "≥" : "≤") \(Figures.short(goal.bound))"
                let doubt = report.bottlenecks.isEmpty ? "" : ", by this program itself?"
                let verdict = goal.isMet(by: report, among: reports).map { $0 ? "met" : "missed\(doubt)" }
                rows.append([report.named.title, goal.title, value, bound, verdict ?? "not measured"])
            }
        }
        return Figures.table(rows, toTheLeft: 2)
    }
}
