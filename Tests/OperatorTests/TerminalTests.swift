import OperatorTerminal
import Testing

@Suite struct TerminalTextTests {
    @Test func whatATerminalWouldObeyIsReplaced() {
        #expect(TerminalText.clean("note-1 für ada") == "note-1 für ada")
        #expect(TerminalText.clean("a\u{1B}[31m\u{7}b\nc") == "a·[31m·b·c")
        // Directional marks reorder a line, others have no width.
        #expect(TerminalText.clean("x\u{202E}\u{2066}y\u{200B}\u{9B}z") == "x·y·z")
    }

    @Test func wideCharactersTakeTwoColumns() {
        #expect(TerminalText.width(of: "ada") == 3)
        #expect(TerminalText.width(of: "日本") == 4 && TerminalText.width(of: "🎨a") == 3)
        #expect(TerminalText.width(of: "é") == 1 && TerminalText.width(of: "e\u{301}") == 1)
    }

    @Test func textsAreCutToColumns() {
        #expect(TerminalText.fit("ada", to: 5) == "ada  " && TerminalText.fit("7", to: 3, isRight: true) == "  7")
        #expect(TerminalText.cut("abcdef", to: 4) == "abc…" && TerminalText.cut("abcd", to: 4) == "abcd")
        // Half of a wide character does not fit.
        #expect(TerminalText.fit("日本語", to: 4) == "日… " && TerminalText.cut("x", to: 0) == "")
    }

    @Test func coloursNeedATerminalThatHasThem() {
        #expect(TerminalStyle(isTerminal: true, environment: ["TERM": "xterm"]).hasColors)
        #expect(!TerminalStyle(isTerminal: false, environment: [:]).hasColors)
        #expect(!TerminalStyle(isTerminal: true, environment: ["NO_COLOR": "1"]).hasColors)
        #expect(!TerminalStyle(isTerminal: true, environment: ["TERM": "dumb"]).hasColors)
        #expect(
            TerminalStyle(isTerminal: true, environment: ["NO_COLOR": ""]).paint("x", .bad) == "\u{1B}[1;31mx\u{1B}[0m")
        #expect(TerminalStyle.plain.paint("x", .bad) == "x")
    }

    @Test func columnsAreAsWideAsTheirCells() {
        var table = TextTable([.init("NAME", limit: 6), .init("N", isRight: true), .init("LAST")])
        table.append([.init("a"), .init("10"), .init("x")])
        table.append([.init("a-long-name"), .init("7"), .init("")])
        #expect(table.text() == "NAME     N  LAST\na       10  x\na-lon…   7\n")
    }

    @Test(arguments: [
        (0, "0"), (0.04, "0"), (4.25, "4.3"), (99.9, "99.9"), (830.4, "830"), (9999, "9999"), (12_400, "12.4k"),
        (3_120_000, "3.1M"),
    ])
    func numbersHaveFewDigits(_ value: Double, _ text: String) {
        #expect(Quantities.number(value) == text)
    }

    @Test func quantitiesHaveUnits() {
        #expect(Quantities.bytes(512) == "512 B" && Quantities.bytes(45 * 1_048_576) == "45 MiB")
        #expect(Quantities.bytes(1500) == "1.5 KiB" && Quantities.bytes(5e9) == "4.7 GiB")
        #expect(
            [0.0, 0.0004, 0.012, 3.24, 125, 7200, 200_000].map(Quantities.span) == [
                "0 ms", "0.4 ms", "12 ms", "3.2 s", "2 min", "2 h", "2 d",
            ])
    }
}

@Suite struct KeyReaderTests {
    private var reader = KeyReader()

    @Test mutating func keysAndArrows() {
        #expect(self.reader.read(Array("gq".utf8)) == [.character("g"), .character("q")])
        #expect(self.reader.read(Array("\u{1B}[A\u{1B}OB\u{3}\u{c}".utf8)) == [.up, .down, .interrupt, .redraw])
    }

    @Test mutating func aSequenceMayBeCut() {
        #expect(self.reader.read(Array("\u{1B}[".utf8)) == [])
        #expect(self.reader.read(Array("B".utf8)) == [.down])
        #expect(self.reader.read([0x1B]) == [.escape])
    }

    @Test mutating func otherSequencesAreNoKeys() {
        #expect(self.reader.read(Array("\u{1B}[1;5Hs\u{1B}[<0;1;1Mr".utf8)) == [.character("s"), .character("r")])
        #expect(self.reader.read(Array(("\u{1B}[" + String(repeating: "1", count: 200) + "q").utf8)).count < 200)
    }
}
