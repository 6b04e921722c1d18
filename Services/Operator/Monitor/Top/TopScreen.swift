package import OperatorTerminal
internal import Stages

/// The screen of `touchsync top`: a pure function of what is known and of the terminal's size.
///
///     totals, latencies
///     findings, the worst first
///     a table, of instances or of rooms
///     the keys
package struct TopScreen {
    private let history: PipelineHistory
    private let rooms: LiveRoomList?
    private let style: TerminalStyle

    /// The most findings that are shown; there may be one for each daemon.
    private static let findings = 5
    /// Below this size there is only a line that says so.
    private static let smallest = TerminalSize(columns: 40, rows: 8)

    /// - Parameter rooms: nil while they are not known.
    package init(_ history: PipelineHistory, rooms: LiveRoomList? = nil, style: TerminalStyle) {
        self.history = history
        self.rooms = rooms
        self.style = style
    }

    /// The lines from the top, at most as many as there are rows, none wider than the terminal.
    package func lines(_ model: inout TopModel, size: TerminalSize) -> [String] {
        guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
            return [TerminalText.cut("the terminal is too small", to: size.columns)]
        }
        let head = self.header(columns: size.columns) + self.findings(columns: size.columns, rows: size.rows)
        let table = self.table(model, columns: size.columns)
        let space = max(0, size.rows - head.count - 2 - 1)
        model.fit(lines: table.rows.count, visible: space)
        let visible = table.rows.dropFirst(model.scroll).prefix(space)
        let above = head + ["", table.title] + visible
        let padding = Array(repeating: "", count: max(0, size.rows - above.count - 1))
        return Array((above + padding + [self.keys(model, columns: size.columns)]).prefix(size.rows))
    }

    /// The same without a terminal: everything, without keys.
    package func text(columns: Int = 100) -> String {
        let table = self.table(TopModel(), columns: columns)
        let lines =
            self.header(columns: columns) + self.findings(columns: columns, rows: .max) + ["", table.title] + table.rows
        return lines.map { $0 + "\n" }.joined()
    }

    // MARK: Header

    private func header(columns: Int) -> [String] {
        let (gateways, fanouts) = (self.history[.gateway].figures, self.history[.fanout].figures)
        let instances = self.history.stages.reduce(0) { $0 + $1.instances.count }
        let ready = self.history.stages.reduce(0) { $0 + $1.readyCount }
        var first = [
            "apps \(Self.count(gateways[.connections]))", "rooms \(Self.count(fanouts[.rooms]))",
            "previews \(Self.rate(gateways[.previewsIn]))",
            "commits \(Self.rate(self.history[.committer].figures[.commitsOut]))",
        ]
        // Below 1 only because both rates are of slightly different seconds.
        if let ratio = self.history.coalescingRatio {
            first.append("folded \(Quantities.tenths(max(1, ratio))) to 1")
        }
        let latencies = [
            ("commit", Distribution.commitLatency), ("preview", .previewAge), ("batch", .batchDuration),
        ].compactMap { name, distribution in self.latency(name, distribution) }
        let state = "\(ready) of \(instances) ready"
        let title = TerminalText.fit(state, to: 20)
        let line = TerminalText.cut(first.joined(separator: "  "), to: max(0, columns - 20))
        var lines = [self.style.paint(title, ready == instances && instances > 0 ? .good : .bad) + line]
        if !latencies.isEmpty {
            let text = TerminalText.fit("last 15 min", to: 20) + latencies.joined(separator: "  ")
            lines.append(self.style.paint(TerminalText.cut(text, to: columns), .faint))
        }
        return lines
    }

    private func latency(_ name: String, _ distribution: Distribution) -> String? {
        guard let counts = self.history.observed(distribution), let half = counts.quantile(0.5),
            let most = counts.quantile(0.99)
        else { return nil }
        return "\(name) \(Quantities.span(half)), p99 \(Quantities.span(most))"
    }

    private static func count(_ value: Double?) -> String { value.map { Quantities.number($0) } ?? "-" }
    private static func rate(_ value: Double?) -> String { "\(Self.count(value))/s" }

    // MARK: Findings

    private func findings(columns: Int, rows: Int) -> [String] {
        let all = self.history.findings
        let most = min(Self.findings, max(1, rows / 4))
        var lines = all.prefix(all.count > most ? most - 1 : most).map { finding in
            let seconds = Double(self.history.at - min(finding.since, self.history.at)) / 1000
            let text = "\(finding.daemon.name): \(finding.trouble.title). \(finding.reason)"
            let age = TerminalText.fit(Quantities.span(seconds), to: 8, isRight: true)
            let accent = finding.trouble.severity == .critical ? TextAccent.bad : .warning
            let line = TerminalText.cut("! " + TerminalText.clean(text), to: max(0, columns - 9))
            let space = String(repeating: " ", count: max(0, columns - 8 - TerminalText.width(of: line)))
            return self.style.paint(line, accent) + space + age
        }
        if all.count > lines.count { lines.append(self.style.paint("! and \(all.count - lines.count) more", .bad)) }
        return lines
    }

    // MARK: Tables

    private func table(_ model: TopModel, columns: Int) -> (title: String, rows: [String]) {
        switch model.view {
        case .instances(let stage): self.instances(stage, sortColumn: model.sortColumn, columns: columns)
        case .rooms: self.roomLines(by: model.roomSort, columns: columns)
        }
    }

    private func instances(
        _ stage: Stage?, sortColumn: Int, columns: Int
    ) -> (title: String, rows: [String]) {
        let figures = TopColumn.columns(of: stage)
        var instances = self.history.stages.filter { stage == nil || $0.stage == stage }.flatMap(\.instances)
        if (1...figures.count).contains(sortColumn) {
            let value = figures[sortColumn - 1].value
            // Stable: instances that are equal stay in the order of the stages.
            instances = instances.enumerated()
                .sorted { left, right in
                    let (first, second) = (value(left.element) ?? -1, value(right.element) ?? -1)
                    return first == second ? left.offset < right.offset : first > second
                }
                .map(\.element)
        }
        let taken = figures.reduce(0) { $0 + $1.width + 1 }
        let name = min(28, max(8, columns - taken - 12))
        let titles = figures.enumerated().map { index, column in
            TerminalText.fit(column.title + (index + 1 == sortColumn ? "▾" : ""), to: column.width + 1, isRight: true)
        }
        let title = TerminalText.fit("NAME", to: name) + " " + TerminalText.fit("STATE", to: 11) + titles.joined()
        let rows = instances.map { self.row($0, name: name, figures, columns: columns) }
        return (self.style.paint(TerminalText.cut(title, to: columns), .strong), rows)
    }

    private func row(
        _ instance: InstanceHistory, name: Int, _ figures: [TopColumn], columns: Int
    ) -> String {
        let state = TerminalText.fit(instance.condition.words, to: 11)
        let cells = figures.map { TerminalText.fit($0.cell(of: instance), to: $0.width + 1, isRight: true) }
        let head = TerminalText.fit(TerminalText.clean(instance.daemon.name), to: name) + " "
        let rest = TerminalText.cut(cells.joined(), to: max(0, columns - name - 12))
        return head + self.style.paint(state, instance.condition.isWell ? .good : .bad) + rest
    }

    private func roomLines(by sort: RoomSort, columns: Int) -> (title: String, rows: [String]) {
        guard let rooms = self.rooms else { return (self.style.paint("asking the fan-outs …", .faint), []) }
        var lines = rooms.table(marking: sort).lines(.plain).map { TerminalText.cut($0, to: columns) }
        let title = self.style.paint(lines.removeFirst(), .strong)
        for silence in rooms.silent {
            let text = "! \(silence.fanout) \(silence.reason)"
            lines.append(self.style.paint(TerminalText.cut(TerminalText.clean(text), to: columns), .warning))
        }
        if rooms.rooms.isEmpty { lines.append(self.style.paint("nobody is in any room", .faint)) }
        return (title, lines)
    }

    // MARK: Keys

    private func keys(_ model: TopModel, columns: Int) -> String {
        let keys: [(key: String, name: String, isOn: Bool)] = [
            ("a", "all", model.view == .instances(nil)), ("g", "gateway", model.stage == .gateway),
            ("c", "coalescer", model.stage == .coalescer), ("m", "committer", model.stage == .committer),
            ("f", "fan-out", model.stage == .fanout), ("r", "rooms", model.view == .rooms), ("q", "quit", false),
            ("s", "sort", false),
        ]
        var width = 0
        var line = ""
        for (key, name, isOn) in keys {
            let gap = line.isEmpty ? "" : "  "
            width += gap.count + 2 + name.count
            guard width <= columns else { break }
            line += gap + self.style.paint(key, .strong) + " " + self.style.paint(name, isOn ? .good : .faint)
        }
        return line
    }
}

extension InstanceCondition {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .notReady: "not ready"
        case .garbled: "unreadable"
        case .stopped: "down"
        case .ready, .starting, .stalled, .silent, .unreachable: self.rawValue
        }
    }
}
