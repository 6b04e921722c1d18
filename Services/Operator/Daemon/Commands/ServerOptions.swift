internal import ArgumentParser

/// The options by which a subcommand that works as an app does finds the server.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address at which apps connect, for a server that touchsync up has not started.", valueName: "url"))
    var url: String?
    @Option(help: "The data folder of touchsync up, whose first gateway is used when no address is given.")
    var data = ".touchsync"

    /// The server's address.
    /// - Throws: when none is given, and no pipeline runs in the folder.
    func address() throws(OperatorFailure) -> String {
        if let url { return url }
        do throws(OperatorFailure) {
            let report = try PsCommand.report(DataFolder(self.data))
            if let url = report.urls.first { return url }
            throw OperatorFailure("the pipeline in \(self.data) has no gateway")
        } catch {
            throw OperatorFailure("which server? give --url, or --data; \(error)")
        }
    }
}
