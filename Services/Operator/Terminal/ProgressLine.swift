/// One line on standard error that says what a command waits for, replaced in place; nothing where nobody looks.
///
///     set ──► shown ──set──► replaced … ──► cleared, before anything else is written
package final class ProgressLine {
    private let output: TerminalOutput
    private var isShown = false

    package init(_ output: TerminalOutput = .error) {
        self.output = output
    }

    /// Whether anybody looks.
    package var isVisible: Bool { self.output.isTerminal }

    /// Shows a line in place of the one before.
    package func set(_ text: String) {
        guard self.isVisible else { return }
        let line = TerminalText.cut(TerminalText.clean(text), to: self.output.size.columns - 1)
        self.output.write("\r\u{1B}[K" + self.output.style.paint(line, .faint))
        self.isShown = true
    }

    package func clear() {
        guard self.isShown else { return }
        self.output.write("\r\u{1B}[K")
        self.isShown = false
    }
}
