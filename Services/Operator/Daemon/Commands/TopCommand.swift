internal import ArgumentParser
internal import Boot
internal import OperatorMonitor
internal import OperatorTerminal

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Shows a running pipeline: its daemons, their load, and what is wrong.",
        discussion: """
            Keys: a all daemons, g gateways, c coalescers, m committers, f fan-outs (or 0 to 4), r rooms, s another \
            order, arrows to scroll, q quit. Where there is no terminal it prints a table and ends. Daemons of --daemons \
            ask for TOUCHSYNC_OPERATOR_TOKEN.
            """)

    @Option(help: "The data folder of touchsync up.")
    var data = ".touchsync"
    @Option(
        help: ArgumentHelp(
            "Where the daemons of a pipeline are listed that touchsync up has not started: a file, or \(DaemonSource.form).",
            valueName: "list"))
    var daemons: String?
    @Flag(help: "Print a table and end.")
    var once = false
    @Flag(help: "Print one line of JSON a second; with --once a single one.")
    var json = false

    func run() throws {
        try TouchSyncCommand.running {
            let stops = try StopRequests.signals()
            let session = try self.session(stops)
            defer { session.end() }
            let output = TerminalOutput.standard
            if self.json {
                try self.printJSON(session)
            } else if self.once || !output.isTerminal {
                if try session.waitForRounds(2) {
                    output.write(session.text(output.style, columns: output.isTerminal ? output.size.columns : 100))
                }
            } else {
                guard try session.waitForRounds(1) else { return 0 }
                guard let screen = FullScreen(output) else {
                    throw OperatorFailure("standard input is no terminal; use --once")
                }
                session.run(on: screen, output.style)
                screen.close()
            }
            return 0
        }
    }

    private func session(_ stops: StopRequests) throws(OperatorFailure) -> TopSession {
        if let daemons {
            return TopSession(try Self.source(daemons), operatorToken: GivenOperatorToken.value, stops: stops)
        }
        let folder = DataFolder(self.data)
        _ = try PsCommand.report(folder)
        return TopSession(.file(folder.stateFile), operatorToken: try folder.operatorToken(), stops: stops)
    }

    private static func source(_ daemons: String) throws(OperatorFailure) -> DaemonSource {
        do throws(SettingRefusal) { return try DaemonSource(daemons.split(separator: ",").map(String.init)) } catch {
            throw OperatorFailure("--daemons: \(error.reason)")
        }
    }

    private func printJSON(_ session: TopSession) throws(OperatorFailure) {
        var rounds: UInt64 = 2
        while try session.waitForRounds(rounds) {
            guard TerminalOutput.standard.write(session.json), !self.once else { return }
            rounds += 1
        }
    }
}
