import Boot
import Glibc
import Testing

@testable import OperatorDaemon

@Suite struct RotatingLogTests {
    private let folder = TemporaryFolder()
    private var path: String { "\(self.folder.path)/x.log" }

    private func limit(_ bytes: Int, _ files: Int) -> LogLimit {
        var limit = LogLimit()
        (limit.bytes, limit.files) = (bytes, files)
        return limit
    }

    /// The files, the oldest first.
    private func files() -> [String] {
        ([""] + (1...20).map { ".\($0)" }).reversed().compactMap { suffix in
            guard case .success(let bytes) = FileBytes.read(self.path + suffix) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func write(_ texts: [String], _ limit: LogLimit) {
        var log = RotatingLog(path: self.path, limit: limit)
        for text in texts { log.append(Array(text.utf8)[...]) }
        #expect(log.failure == nil)
        log.close()
    }

    @Test func linesGoIntoTheNextFileWhenOneIsFull() {
        self.write(["one\n", "two\nthree\n", "four\n"], self.limit(10, 3))
        #expect(self.files() == ["one\ntwo\n", "three\n", "four\n"])
        self.write(["five\n"], self.limit(10, 3))
        #expect(self.files() == ["one\ntwo\n", "three\n", "four\nfive\n"])
        self.write(["six\n"], self.limit(10, 3))
        #expect(self.files() == ["three\n", "four\nfive\n", "six\n"])
    }

    @Test func aLineLongerThanAFileIsCut() {
        self.write(["ab\n", "0123456789x\n"], self.limit(8, 4))
        #expect(self.files() == ["ab\n", "01234567", "89x\n"])
    }

    @Test func aSmallerLimitRemovesWhatIsTooMuch() {
        self.write(["1234\n", "2345\n", "3456\n", "4567\n"], self.limit(5, 4))
        #expect(self.files().count == 4)
        self.write(["5678\n"], self.limit(5, 2))
        #expect(self.files() == ["4567\n", "5678\n"])
        self.write(["6789\n"], self.limit(5, 1))
        #expect(self.files() == ["6789\n"])
    }

    /// Whatever is written in whatever pieces, the files are the end of it, and all of it while there is space.
    @Test func nothingIsLostBetweenTheFiles() {
        for seed in 0..<50 {
            let lines = (0..<200).map {
                "line \(seed) \($0)" + String(repeating: "x", count: ($0 * 7 + seed) % 30) + "\n"
            }
            let text = Array(lines.joined().utf8)
            let size = 100 + seed * 17
            var log = RotatingLog(path: self.path, limit: self.limit(size, 5))
            var rest = text[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...400))
                log.append(piece)
                rest = rest[piece.endIndex...]
            }
            log.close()
            let files = self.files()
            #expect(files.count == 5 && files.allSatisfy { $0.utf8.count <= size })
            #expect(String(decoding: text, as: UTF8.self).hasSuffix(files.joined()))
            for number in 0..<5 { unlink(number == 0 ? self.path : "\(self.path).\(number)") }
        }
    }

    @Test func aFullDiskIsReportedAndSurvived() {
        var log = RotatingLog(path: "/dev/full", limit: LogLimit())
        log.append(Array("lost\n".utf8)[...])
        #expect(log.failure == "No space left on device")
        log.close()
    }
}
