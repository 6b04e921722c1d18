internal import Boot
internal import Glibc

/// Standard output or standard error, and whether a person reads it on a terminal.
package struct TerminalOutput: Sendable {
    package let descriptor: Int32
    package let isTerminal: Bool
    package let style: TerminalStyle

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        self.isTerminal = isatty(descriptor) == 1
        self.style = TerminalStyle(isTerminal: self.isTerminal, environment: ProcessSetup.environment())
    }

    package static var standard: TerminalOutput { TerminalOutput(STDOUT_FILENO) }
    package static var error: TerminalOutput { TerminalOutput(STDERR_FILENO) }

    /// Its size, 80 × 24 where it is not known.
    package var size: TerminalSize {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes the whole text.
    /// - Returns: false when nobody reads it any more.
    @discardableResult
    package func write(_ text: String) -> Bool { FileBytes.write(Array(text.utf8), to: self.descriptor) }
}

/// The size of a terminal, characters.
package struct TerminalSize: Equatable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

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
