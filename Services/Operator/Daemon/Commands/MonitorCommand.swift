internal import ArgumentParser
internal import Dispatch
internal import OperatorMonitor

/// `touchsync monitor`, a daemon like the others.
struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Watches the daemons of a pipeline, and shows them on a page for operators.",
        discussion: """
            A daemon that asks the others at their admin servers, once a second. It takes settings as they do, which \
            touchsync monitor --help lists: --daemons says where they are, TOUCHSYNC_OPERATOR_TOKEN is what they, and \
            the page, ask for. The page is at its own admin server, --admin-host and --admin-port.
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Settings of the monitor.", valueName: "settings"))
    var settings: [String] = []

    func run() {
        let settings = self.settings
        Task { await MonitorService.main(settings) }
        dispatchMain()
    }
}
