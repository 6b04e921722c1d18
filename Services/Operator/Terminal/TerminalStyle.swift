/// A meaning that a terminal shows as a colour or a weight.
package enum TextAccent: Sendable {
    case plain
    /// A heading.
    case strong
    /// What matters less.
    case faint
    case good, warning, bad

    /// Select Graphic Rendition (ECMA-48 section 8.3.117).
    fileprivate var code: String? {
        switch self {
        case .plain: nil
        case .strong: "1"
        case .faint: "2"
        case .good: "32"
        case .warning: "33"
        case .bad: "1;31"
        }
    }
}

/// Whether texts get colours.
package struct TerminalStyle: Equatable, Sendable {
    package let hasColors: Bool

    /// Colours only on a terminal that has them, and never with `NO_COLOR` (no-color.org).
    package init(isTerminal: Bool, environment: [String: String]) {
        self.hasColors =
            isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    package static let plain = TerminalStyle(isTerminal: false, environment: [:])

    package func paint(_ text: String, _ accent: TextAccent) -> String {
        guard self.hasColors, let code = accent.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
