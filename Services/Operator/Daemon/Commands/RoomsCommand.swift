internal import ArgumentParser
internal import Boot
internal import OperatorTerminal
internal import OperatorViews

/// `touchsync rooms`.
struct RoomsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms", abstract: "Lists the rooms that somebody is in, or shows one of them.",
        discussion: """
            It asks the fan-outs of the pipeline: a list of the first 100 rooms, or with a room's id its people, rates \
            and last updates. Those of --url ask for TOUCHSYNC_OPERATOR_TOKEN. Exit code 1 when no fan-out answers, or none has the room.
            """)

    @Argument(help: "A room's id.")
    var room: RoomName?
    @Option(help: "The data folder of touchsync up.")
    var data = ".touchsync"
    @Option(
        help: ArgumentHelp(
            "The admin address of a fan-out that touchsync up has not started; may be repeated.", valueName: "url"))
    var url: [String] = []
    @Option(help: "The order of the list: activity, members, seq or bytes.")
    var sort = RoomSort.activity
    @Flag(help: "Print one line of JSON.")
    var json = false

    func run() throws {
        try TouchSyncCommand.running {
            let desk = try FanoutDesk(urls: self.url, folder: DataFolder(self.data))
            if let room { try self.show(desk.room(room.id)) } else { try self.show(desk.rooms(by: self.sort)) }
            return 0
        }
    }

    private func show(_ report: LiveRoomReport) {
        let output = TerminalOutput.standard
        guard !self.json else { return ProcessSetup.print(String(decoding: report.json, as: UTF8.self)) }
        output.write(report.text(at: Int64(clamping: WallClock.milliseconds()), output.style))
    }

    private func show(_ list: LiveRoomList) {
        for silence in list.silent { ProcessSetup.complain("touchsync: \(silence.fanout) \(silence.reason)\n") }
        let output = TerminalOutput.standard
        guard !self.json else { return ProcessSetup.print(String(decoding: list.json, as: UTF8.self)) }
        guard !list.rooms.isEmpty else { return ProcessSetup.complain("nobody is in any room\n") }
        output.write(list.table().text(output.style))
        if list.isTruncated { ProcessSetup.complain("there are more rooms than these \(list.rooms.count)\n") }
    }
}

extension RoomSort: ExpressibleByArgument {}
