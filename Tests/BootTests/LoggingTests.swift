import Glibc
import Logging
import Testing

@testable import Boot

/// A pipe whose ends close with it.
final class TestPipe {
    let reading: Int32
    let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        self.reading = ends[0]
        self.writing = ends[1]
    }

    deinit {
        close(self.reading)
        close(self.writing)
    }

    /// What is there now, without waiting.
    func text() -> String {
        _ = fcntl(self.reading, F_SETFL, O_NONBLOCK)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(self.reading, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite struct LoggingTests {
    private func line(_ format: LogFormat, _ message: String, _ fields: [(key: String, value: String)] = []) -> String {
        String(
            decoding: LogLine(origin: "gw-1", format: format)
                .bytes(time: "T", level: .info, message: message, fields: fields), as: UTF8.self)
    }

    @Test func textLines() {
        #expect(self.line(.text, "peer is up") == "T INFO gw-1 peer is up\n")
        #expect(
            self.line(.text, "m", [("a", "1"), ("b", "two words"), ("c", ""), ("d", "x=\"y\"")])
                == "T INFO gw-1 m a=1 b=\"two words\" c=\"\" d=\"x=\\\"y\\\"\"\n")
    }

    @Test func jsonLines() {
        #expect(
            self.line(.json, "m", [("a.b", "1\"2")])
                == #"{"time":"T","level":"info","name":"gw-1","message":"m","fields":{"a.b":"1\"2"}}"# + "\n")
        #expect(self.line(.json, "m") == #"{"time":"T","level":"info","name":"gw-1","message":"m"}"# + "\n")
    }

    @Test(arguments: LogFormat.allCases)
    func aLineForTheJournalBeginsWithItsPriority(_ format: LogFormat) {
        let (plain, marked) = (
            LogLine(origin: "gw-1", format: format), LogLine(origin: "gw-1", format: format, marksPriority: true)
        )
        for (level, mark) in [(Logger.Level.debug, "<7>"), (.info, "<6>"), (.warning, "<4>"), (.error, "<3>")] {
            let line = plain.bytes(time: "T", level: level, message: "m", fields: [])
            #expect(marked.bytes(time: "T", level: level, message: "m", fields: []) == Array(mark.utf8) + line)
        }
        let long = String(repeating: "x", count: 10_000)
        let cut = marked.bytes(time: "T", level: .info, message: long, fields: [("a", long)])
        #expect(cut.starts(with: "<6>".utf8) && cut.count <= LogLine.longest)
    }

    @Test func theJournalIsKnownByItsStream() {
        let pipe = TestPipe()
        var facts = stat()
        fstat(pipe.writing, &facts)
        let stream = "\(facts.st_dev):\(facts.st_ino)"
        #expect(JournalStream.isStandardError(["JOURNAL_STREAM": stream], descriptor: pipe.writing))
        #expect(!JournalStream.isStandardError(["JOURNAL_STREAM": stream + "1"], descriptor: pipe.writing))
        #expect(!JournalStream.isStandardError([:], descriptor: pipe.writing))
    }

    @Test(arguments: LogFormat.allCases)
    func nothingBreaksOutOfItsLine(_ format: LogFormat) {
        let evil = "a\r\nT INFO gw-1 forged \u{1B}[2J\u{0}\u{85}\u{2028}\u{9B}\u{202E}\\"
        let line = self.line(format, evil, [(evil, evil)])
        #expect(line.utf8.filter { $0 == 0x0A || $0 == 0x0D }.count == 1)
        #expect(line.hasSuffix("\n"))
        #expect(!line.utf8.dropLast().contains { $0 < 0x20 || $0 == 0x7F })
        if format == .text {
            #expect(!line.unicodeScalars.contains { "\u{85}\u{2028}\u{9B}\u{202E}".unicodeScalars.contains($0) })
        }
    }

    @Test(arguments: LogFormat.allCases)
    func linesAreBounded(_ format: LogFormat) {
        let long = String(repeating: "\u{1}é", count: 5000)
        #expect(self.line(format, long).utf8.count <= LogLine.longest)
        let fields = (0..<9).map { (key: "k\($0)", value: String(repeating: "v", count: 1000)) }
        let line = self.line(format, "m", fields)
        #expect(line.utf8.count <= LogLine.longest)
        #expect(line.contains("k2") && line.contains("log.cut") && !line.contains("k5"))
    }

    @Test func timesAreUTC() {
        #expect(WallClock.text(seconds: 1_700_000_000, nanoseconds: 7_999_999) == "2023-11-14T22:13:20.007999Z")
        #expect(WallClock.text(seconds: 951_782_400, nanoseconds: 0) == "2000-02-29T00:00:00.000000Z")
    }

    @Test func theHandlerMergesMetadata() {
        let pipe = TestPipe()
        var handler = LineLogHandler(
            origin: "o", format: .text, level: .info, sink: LogSink(descriptor: pipe.writing), clock: { "T" })
        handler[metadataKey: "a"] = "1"
        handler[metadataKey: "b"] = "1"
        var logger = Logger(label: "l") { _ in handler }
        logger[metadataKey: "c"] = "3"
        logger.info("hello", metadata: ["b": "2", "list": ["x", "y"]])
        logger.debug("not at this level")
        #expect(pipe.text() == "T INFO o hello a=1 b=2 c=3 list=\"[\\\"x\\\", \\\"y\\\"]\"\n")
    }

    @Test func aSinkThatNobodyReadsNeverBlocks() {
        let pipe = TestPipe()
        let sink = LogSink(descriptor: pipe.writing)
        let logger = Logger(label: "l") { _ in
            LineLogHandler(origin: "o", format: .text, level: .info, sink: sink, clock: { "T" })
        }
        // A pipe holds 64 KiB; this would hang if writes blocked.
        for _ in 0..<200 { logger.info("m", metadata: ["pad": "\(String(repeating: "x", count: 1000))"]) }
        #expect(sink.droppedLines > 100)
        let before = sink.droppedLines
        #expect(!pipe.text().contains("dropped"))
        logger.info("again")
        #expect(pipe.text() == "T WARNING o log lines were dropped log.dropped=\(before)\nT INFO o again\n")
        #expect(sink.droppedLines == before)
    }

    @Test func aClosedSinkIsHarmless() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        close(ends[0])
        let sink = LogSink(descriptor: ends[1])
        sink.write([0x0A], notice: { _ in [0x0A] })
        #expect(sink.droppedLines == 1)
        close(ends[1])
    }

    @Test func theLimiterCountsWhatItSwallows() {
        var limiter = LogLimiter(every: .seconds(1))
        let start = ContinuousClock.now
        #expect(limiter.admit(at: start) == 0)
        #expect(limiter.admit(at: start + .milliseconds(999)) == nil)
        #expect(limiter.admit(at: start + .milliseconds(999)) == nil)
        #expect(limiter.admit(at: start + .seconds(1)) == 2)
        #expect(limiter.admit(at: start + .seconds(2)) == 0)
    }
}
