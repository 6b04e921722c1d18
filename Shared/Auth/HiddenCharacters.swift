extension Unicode.Scalar {
    /// Whether it is not seen itself, but may change how what stands around it is seen, or that two texts differ: controls
    /// (C0 and C1), separators of lines, marks of direction (U+202E), and characters without width. What joins letters and
    /// emoji is none of them.
    package var isHidden: Bool {
        if self.isASCII { return self.value < 0x20 || self.value == 0x7F }
        return switch self.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: self.properties.isDefaultIgnorableCodePoint && !self.isJoining
        }
    }

    /// Joiners, which Persian and emoji need, and selectors of a character's variants.
    fileprivate var isJoining: Bool {
        self == "\u{200C}" || self == "\u{200D}" || self.properties.isVariationSelector
    }
}

extension String {
    /// The text without hidden characters, for people to read; nil when nothing is left that can be seen.
    package var withoutHidden: String? {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: self.unicodeScalars.lazy.filter { !$0.isHidden })
        return text.contains { !$0.isJoining && !$0.properties.isWhitespace } ? String(text) : nil
    }
}
