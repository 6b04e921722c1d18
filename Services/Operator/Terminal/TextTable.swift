/// A table of text: headings, and rows of cells of any content.
package struct TextTable: Sendable {
    package struct Column: Sendable {
        package var title: String
        /// Numbers are flush right.
        package var isRight: Bool
        /// The most columns of the terminal that it takes.
        package var limit: Int

        package init(_ title: String, isRight: Bool = false, limit: Int = 40) {
            self.title = title
            self.isRight = isRight
            self.limit = limit
        }
    }

    package struct Cell: Sendable {
        package var text: String
        package var accent: TextAccent

        package init(_ text: String, _ accent: TextAccent = .plain) {
            self.text = TerminalText.clean(text)
            self.accent = accent
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; it has a cell for each column.
    package mutating func append(_ cells: [Cell]) {
        self.rows.append(cells)
    }

    /// The lines, headings first, each with a line feed.
    package func text(_ style: TerminalStyle = .plain) -> String {
        self.lines(style).map { $0 + "\n" }.joined()
    }

    /// The lines, headings first.
    package func lines(_ style: TerminalStyle) -> [String] {
        let titles = self.columns.map { Cell($0.title, .strong) }
        let widths = self.columns.indices.map { index in
            let cells = ([titles] + self.rows).map { TerminalText.width(of: $0[index].text) }
            return min(self.columns[index].limit, cells.max() ?? 0)
        }
        return ([titles] + self.rows).map { self.line($0, widths, style) }
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: TerminalStyle) -> String {
        var line = ""
        // No spaces at the end of a line.
        let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
        for (index, cell) in cells[...last].enumerated() {
            let isLast = index == last
            let column = self.columns[index]
            let text =
                isLast && !column.isRight
                ? TerminalText.cut(cell.text, to: widths[index])
                : TerminalText.fit(cell.text, to: widths[index], isRight: column.isRight)
            line += style.paint(text, cell.accent) + (isLast ? "" : "  ")
        }
        return line
    }
}
