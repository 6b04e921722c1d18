internal import Glibc

/// A terminal in raw mode on its alternate screen; everything is as before when it is closed, or deallocated.
///
/// What a terminal is left with when its program is killed cannot be helped: `reset` repairs it.
package final class FullScreen {
    private let output: TerminalOutput
    private var saved = termios()
    private var isOpen = false
    private var shown: [String] = []
    private var shownSize = TerminalSize(columns: 0, rows: 0)

    /// Takes over the terminal of standard input and output.
    /// - Returns: nil when one of both is none.
    package init?(_ output: TerminalOutput = .standard) {
        self.output = output
        guard output.isTerminal, tcgetattr(STDIN_FILENO, &self.saved) == 0 else { return nil }
        var raw = self.saved
        cfmakeraw(&raw)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0 else { return nil }
        self.isOpen = true
        // The alternate screen, a hidden cursor, no wrapping: a line that is too long must not move the others.
        output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    deinit { self.close() }

    /// Gives the terminal back.
    package func close() {
        guard self.isOpen else { return }
        self.isOpen = false
        self.output.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l")
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &self.saved)
    }

    package var size: TerminalSize { self.output.size }

    /// Shows lines from the top; writes only those that have changed.
    package func show(_ lines: [String]) {
        let size = self.size
        var text = ""
        if size != self.shownSize {
            text += "\u{1B}[2J"
            self.shown = []
            self.shownSize = size
        }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row] : ""
            if row < self.shown.count, self.shown[row] == line { continue }
            // Cleared before it is written: behind a line that fills the row, the cursor is still on its last column.
            text += "\u{1B}[\(row + 1);1H\u{1B}[K\(line)"
        }
        self.shown = (0..<size.rows).map { $0 < lines.count ? lines[$0] : "" }
        if !text.isEmpty { self.output.write(text) }
    }

    /// Forgets what is shown, so that the next lines are all written.
    package func invalidate() { self.shownSize = TerminalSize(columns: 0, rows: 0) }
}
