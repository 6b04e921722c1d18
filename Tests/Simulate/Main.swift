import Foundation
import HistoryChecker
import Simulation

/// `simulate [--seed N] [--seeds M] [--mutant NAME] [--trace] [--history FILE]`: runs worlds and judges them.
@main
enum Main {
    static func main() {
        var first: UInt64 = 1
        var count: UInt64 = 1
        var mutant: Mutant?
        var trace = false
        var arguments = CommandLine.arguments.dropFirst().makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--seed": first = arguments.next().flatMap { UInt64($0) } ?? 1
            case "--seeds": count = arguments.next().flatMap { UInt64($0) } ?? 1
            case "--mutant": mutant = arguments.next().flatMap { Mutant(rawValue: $0) }
            case "--trace": trace = true
            default: break
            }
        }
        var totals: [String: Int64] = [:]
        var bad = 0
        for seed in first..<first + count {
            let world = World(Plan(seed: seed, mutant: mutant))
            if trace { world.trace = { print($0) } }
            let history = world.run()
            let verdict = HistoryChecker.check(history)
            for (name, value) in verdict.counts { totals[name, default: 0] += value }
            guard !verdict.isGood else { continue }
            bad += 1
            print("seed \(seed): \(verdict.violated.map(\.rawValue))")
            if bad <= 3 { print(verdict.report(of: history)) }
        }
        for (name, value) in totals.sorted(by: { $0.key < $1.key }) { print(name, value) }
        print("\(count) seeds, \(bad) bad")
    }
}
