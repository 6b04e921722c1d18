/// Text as a terminal shows it.
///
/// Names come from apps: one with control characters could move the cursor, change colours or the window's title, and one
/// with directional marks could reorder a line.
package enum TerminalText {
    /// The text with everything that a terminal would obey or that has no width replaced by `·`, at most one for a run.
    package static func clean(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: Self.isUnsafe) else { return text }
        var cleaned = String.UnicodeScalarView()
        var isInRun = false
        for scalar in text.unicodeScalars {
            let isUnsafe = Self.isUnsafe(scalar)
            if !isUnsafe { cleaned.append(scalar) } else if !isInRun { cleaned.append("·") }
            isInRun = isUnsafe
        }
        return String(cleaned)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// The columns that a clean text takes: two for East Asian wide characters and emoji, none for marks that combine.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + Self.width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        if first.properties.isEmojiPresentation || Self.isWide(first.value) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return 1
        }
    }

    /// The blocks of wide characters (Unicode, East Asian Width W and F).
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// The beginning of a clean text that fits, with `…` when something is missing.
    package static func cut(_ text: String, to columns: Int) -> String {
        guard Self.width(of: text) > columns else { return text }
        guard columns > 0 else { return "" }
        var kept = ""
        var width = 1
        for character in text {
            let next = Self.width(of: character)
            guard width + next <= columns else { break }
            kept.append(character)
            width += next
        }
        return kept + "…"
    }

    /// A clean text, cut or padded to a number of columns.
    package static func fit(_ text: String, to columns: Int, isRight: Bool = false) -> String {
        let cut = Self.cut(text, to: columns)
        let space = String(repeating: " ", count: max(0, columns - Self.width(of: cut)))
        return isRight ? space + cut : cut + space
    }
}
