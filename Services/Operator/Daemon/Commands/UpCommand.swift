internal import ArgumentParser
internal import Boot
internal import Stages

struct UpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Starts a whole pipeline on this machine and keeps it running.",
        discussion: """
            Without a database (--database-url, DATABASE_URL, settings file) it runs a private PostgreSQL under DIR. \
            Any other flag is a setting of the daemons (see touchsync-gateway --help and the others') and is passed to \
            every daemon that has it. Beside the daemons runs touchsync monitor. Ctrl-C or SIGTERM stops everything, gateways first.
            """)

    @Option(help: "Port of the first gateway; gateway k listens on PORT + k.")
    var port = 8080
    @Option(help: "Address that the gateways listen on.")
    var host: String?
    @Option(help: "Data folder of this pipeline.")
    var data = ".touchsync"
    @Option(help: "Number of gateways.")
    var gateways = 1
    @Option(help: "Number of coalescers.")
    var coalescers = 1
    @Option(help: "Number of committers.")
    var committers = 1
    @Option(help: "Number of fan-outs.")
    var fanouts = 1
    @Option(help: "Settings file for every daemon.")
    var config: String?
    @Option(help: "PostgreSQL connection string. Prefer DATABASE_URL: other users can read command lines for a moment.")
    var databaseUrl: String?
    @Option(help: "Bytes of a log file, after which the next one of the daemon is begun.")
    var logBytes = LogLimit().bytes
    @Option(help: "Log files of a daemon; the oldest one is removed.")
    var logFiles = LogLimit().files
    @Flag(help: "When ready, print one line of JSON instead of text.")
    var json = false
    @Flag(help: "Do not mask the password in the database's connection string; for scripts that read the JSON.")
    var showSecrets = false
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Settings of the daemons, such as --log-level debug.", valueName: "settings"))
    var settings: [String] = []

    func validate() throws {
        for stage in Stage.allCases {
            guard let count = self.counts[stage], !(1...64).contains(count) else { continue }
            throw ValidationError("--\(stage.rawValue)s must be a whole number from 1 to 64, not \(count)")
        }
        guard self.logBytes >= 1 << 16 else {
            throw ValidationError("--log-bytes must be a whole number from 65536, not \(self.logBytes)")
        }
        guard (1...1000).contains(self.logFiles) else {
            throw ValidationError("--log-files must be a whole number from 1 to 1000, not \(self.logFiles)")
        }
        guard self.port >= 1, self.port + self.gateways - 1 <= 65535 else {
            throw ValidationError("--port must leave room for \(self.gateways) ports up to 65535, not \(self.port)")
        }
    }

    /// Instances of each stage.
    var counts: [Stage: Int] {
        [.gateway: self.gateways, .coalescer: self.coalescers, .committer: self.committers, .fanout: self.fanouts]
    }

    var logLimit: LogLimit {
        var limit = LogLimit()
        (limit.bytes, limit.files) = (self.logBytes, self.logFiles)
        return limit
    }

    func run() throws {
        let command = ProcessSetup.programPath
        let programs = String(command[..<(command.lastIndex(of: "/") ?? command.startIndex)])
        try TouchSyncCommand.running(Pipeline(options: self, command: command, programs: programs).run)
    }
}
