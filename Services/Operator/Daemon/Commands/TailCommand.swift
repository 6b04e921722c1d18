internal import ArgumentParser
internal import Boot
internal import Glibc
internal import OperatorTerminal

struct TailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Shows the updates of a room as they happen, one a line.",
        discussion: """
            It joins the room like an app, so that members see it there, and goes on after restarts of the server with \
            what it missed. Times are UTC. Ctrl-C ends it.
            """)

    @Option(help: "The room's id.")
    var room: RoomName
    @Flag(help: "Show previews too: what moves under fingers.")
    var previews = false
    @Flag(help: "Print lines of JSON, notices about the connection too.")
    var json = false
    @OptionGroup var server: ServerOptions
    @Option(help: "A token for the room, for servers that require one (or TOUCHSYNC_TOKEN).")
    var token: String?

    /// Seconds that it has to say goodbye.
    private static let patience = 3

    func run() throws {
        try TouchSyncCommand.running {
            let stops = try StopRequests.signals()
            let output = TerminalOutput.standard
            let tail = try RoomTail(
                RoomTail.Options(
                    url: self.server.address(), room: self.room.id,
                    token: self.token ?? ProcessSetup.environment()[TouchSyncCommand.tokenVariable],
                    showsPreviews: self.previews),
                lines: TailLines(room: self.room.id, isJSON: self.json, style: output.style)
            ) { output.write($0) }
            while tail.failure == nil, !stops.isRequested(within: 200) {}
            tail.stop()
            for _ in 0..<Self.patience * 20 where !tail.hasEnded { usleep(50_000) }
            if let failure = tail.failure { throw OperatorFailure("the room cannot be followed: \(failure)") }
            return 0
        }
    }
}
