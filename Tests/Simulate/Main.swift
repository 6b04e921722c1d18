import Foundation
import HistoryChecker
import Simulation

/// `simulate [--seed N] [--seeds M] [--mutant NAME] [--trace] [--history FILE] [--transcripts FOLDER]`: runs worlds and
/// judges them.
///
/// With `--trace` all that happens in one world is printed, with `--history` what its apps saw is written to a file,
/// with `--transcripts` what happened to the clients of worlds is written to files, and nothing is judged.
/// Exit code 0: all is good; 1: an invariant is violated; 2: the arguments make no sense.
@main
enum Main {
    private struct Options {
        var seed: UInt64 = 1
        var seeds: UInt64 = 1
        var mutant: Mutant?
        var isTraced = false
        var history: String?
        var transcripts: String?

        init?(_ arguments: some Sequence<String>) {
            var arguments = arguments.makeIterator()
            while let argument = arguments.next() {
                switch argument {
                case "--trace": self.isTraced = true
                case "--seed":
                    guard let value = arguments.next().flatMap({ UInt64($0) }) else { return nil }
                    self.seed = value
                case "--seeds":
                    guard let value = arguments.next().flatMap({ UInt64($0) }), value > 0 else { return nil }
                    self.seeds = value
                case "--mutant":
                    guard let value = arguments.next().flatMap(Mutant.init(rawValue:)) else { return nil }
                    self.mutant = value
                case "--history":
                    guard let value = arguments.next() else { return nil }
                    self.history = value
                case "--transcripts":
                    guard let value = arguments.next() else { return nil }
                    self.transcripts = value
                default: return nil
                }
            }
        }
    }

    static func main() async {
        Self.makeHashingDeterministic()
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            print("usage: simulate [--seed N] [--seeds M] [--mutant NAME] [--trace] [--history FILE]")
            print("mutants: \(Mutant.allCases.map(\.rawValue).joined(separator: ", "))")
            exit(2)
        }
        if let folder = options.transcripts { exit(Self.transcribe(options, into: folder)) }
        exit(options.isTraced || options.history != nil ? Self.one(options) : await Self.many(options))
    }

    /// The cores walk over dictionaries, whose order Swift draws anew in every process unless it is told not to.
    private static func makeHashingDeterministic() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name) == nil else { return }
        setenv(name, "1", 1)
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", &arguments)
    }

    private static func one(_ options: Options) -> Int32 {
        let world = World(Plan(seed: options.seed, mutant: options.mutant))
        if options.isTraced { world.trace = { print($0) } }
        let history = world.run()
        if let file = options.history {
            let text = history.map(\.line).joined(separator: "\n") + "\n"
            guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8)) else {
                print("simulate: \(file) cannot be written")
                return 2
            }
        }
        let verdict = HistoryChecker.check(history)
        print(verdict.report(of: history), terminator: "")
        for stray in world.finalStrays { print(stray) }
        return verdict.isGood && world.finalStrays.isEmpty ? 0 : 1
    }

    /// Writes down what happened to each run of each client. Worlds that are bad are others' to judge.
    private static func transcribe(_ options: Options, into folder: String) -> Int32 {
        for seed in options.seed..<options.seed + options.seeds {
            var plan = Plan(seed: seed, mutant: options.mutant)
            plan.isTranscribed = true
            if plan.clients == 0 { continue }
            let world = World(plan)
            _ = world.run()
            for (name, lines) in world.transcripts {
                let file = "\(folder)/\(seed)-\(name).txt"
                let data = Data((lines.joined(separator: "\n") + "\n").utf8)
                guard FileManager.default.createFile(atPath: file, contents: data) else {
                    print("simulate: \(file) cannot be written")
                    return 2
                }
            }
        }
        return 0
    }

    private static func many(_ options: Options) async -> Int32 {
        let workers = ProcessInfo.processInfo.activeProcessorCount
        let seeds = options.seed..<options.seed + options.seeds
        let campaign = await Campaign.run(seeds, mutant: options.mutant, workers: workers)
        for failure in campaign.failures {
            print("seed \(failure.seed): \(failure.summary)")
            print(failure.report, terminator: "")
        }
        for (name, value) in campaign.counts.sorted(by: { $0.key < $1.key }) { print("\(name) \(value)") }
        print("\(campaign.worlds) worlds, \(campaign.failures.count) of them bad")
        return campaign.failures.isEmpty ? 0 : 1
    }
}
