import Foundation
import HistoryChecker

/// `history-check FILE [--require NAME…]`: judges a history. Exit code 0: good; 1: violated, or a required count is
/// zero or missing; 2: unreadable.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let split = arguments.firstIndex(of: "--require") ?? arguments.endIndex
        let required = Array(arguments[split...].dropFirst())
        guard arguments[..<split].count == 1, let file = arguments.first else {
            print("usage: history-check FILE [--require NAME…]")
            exit(2)
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            print("history-check: \(file) cannot be read")
            exit(2)
        }
        do {
            exit(Self.judge(try HistoryReader.records([UInt8](data)), required))
        } catch {
            print("history-check: \(file), line \(error.line): \(error.reason)")
            exit(2)
        }
    }

    private static func judge(_ history: [HistoryRecord], _ required: [String]) -> Int32 {
        let verdict = HistoryChecker.check(history)
        print(verdict.report(of: history), terminator: "")
        let missing = verdict.missing(required)
        if !missing.isEmpty { print("counts that must not be zero: \(missing.joined(separator: ", "))") }
        let isGood = verdict.isGood && missing.isEmpty
        print(isGood ? "the history is good" : "the history is bad")
        return isGood ? 0 : 1
    }
}
