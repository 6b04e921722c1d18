package import ArgumentParser
internal import Boot

/// `touchsync`, the operator's command.
package struct TouchSyncCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "touchsync", abstract: "Runs and maintains a TouchSync pipeline.", version: BuildInfo.line,
        subcommands: [
            UpCommand.self, PsCommand.self, MonitorCommand.self, TopCommand.self, RoomsCommand.self, TailCommand.self,
            MigrateCommand.self, DoctorCommand.self, TokenCommand.self, KeysCommand.self, RoomCommand.self,
            RobotsCommand.self, KeepCommand.self,
        ])

    /// Where a `--token` moves to, out of other users' sight.
    static let tokenVariable = "TOUCHSYNC_TOKEN"

    package init() {}

    /// Moves secrets from the command line into the environment, under the names that the subcommands read.
    package static func hideSecrets() {
        ProcessSetup.hideSecrets(
            SecretArguments(
                of: StageCatalog.installed.schemas.flatMap(\.settings), and: ["--token": Self.tokenVariable]))
    }

    /// Runs a subcommand's work; a failure is reported on standard error and becomes the exit code.
    static func running(_ body: () throws -> Int32) throws {
        let code: Int32
        do {
            code = try body()
        } catch let failure as OperatorFailure {
            ProcessSetup.complain(failure.description.split(separator: "\n").map { "touchsync: \($0)\n" }.joined())
            code = failure.exitCode
        } catch {
            ProcessSetup.complain("touchsync: \(error)\n")
            code = 1
        }
        if code != 0 { throw ExitCode(code) }
    }
}
