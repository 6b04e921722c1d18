internal import ArgumentParser
internal import Boot
internal import NIOCore
internal import NIOPosix
internal import OperatorMonitor
internal import OperatorTerminal

struct RoomsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "Lists the rooms that somebody is in, or shows one of them; or those in the database.",
        discussion: """
            It asks the fan-outs of the pipeline: a list of the first 100 rooms, or with a room's id its people, rates \
            and last updates. Those of --fanout ask for TOUCHSYNC_OPERATOR_TOKEN. Exit code 1 when no fan-out answers, or \
            none has the room.

            With --stored it reads the database: all rooms that were ever used, by their names, a page at a time. The \
            pipeline need not run.
            """)

    @Argument(help: "A room's id.")
    var room: RoomName?
    @Option(
        help: ArgumentHelp(
            "The admin address of a fan-out that touchsync up has not started; may be repeated.", valueName: "url"))
    var fanout: [String] = []
    @Option(help: "The order of the list: activity (the default), members, seq or bytes.")
    var sort: RoomSort?
    @Flag(help: "List the rooms in the database.")
    var stored = false
    @Option(help: "The most rooms of a page, with --stored.")
    var limit = 100
    @Option(help: ArgumentHelp("The name behind which the page begins, with --stored.", valueName: "room"))
    var after: RoomName?
    @Flag(help: "Print one line of JSON.")
    var json = false
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard (1...StoredRooms.mostOfAPage).contains(self.limit) else {
            throw ValidationError("--limit must be 1 to \(StoredRooms.mostOfAPage), not \(self.limit)")
        }
        if self.stored, self.room != nil || self.sort != nil || !self.fanout.isEmpty {
            throw ValidationError("--stored lists all rooms by their names; it takes no room, --sort or --fanout")
        }
        if !self.stored, let stray = self.database.settings.settings.first {
            throw ValidationError("\(stray) is no option without --stored; the admin address of a fan-out is --fanout")
        }
        if !self.stored, self.after != nil { throw ValidationError("--after belongs to --stored") }
    }

    func run() throws {
        try TouchSyncCommand.running {
            if self.stored {
                let after = self.after?.id ?? ""
                self.show(try StoredRooms(after: after, limit: self.limit, on: self.database.connect()))
                return 0
            }
            let (queries, room, sort) = (try self.queries(), self.room, self.sort ?? .activity)
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            if let room {
                try self.show(eventLoop.makeFutureWithTask { await queries.room(room.id) }.wait(), of: room.id)
            } else {
                let list = try eventLoop.makeFutureWithTask { await queries.rooms(by: sort) }.wait()
                try self.show(list, of: queries.count)
            }
            return 0
        }
    }

    private func show(_ page: StoredRooms) {
        guard !self.json else { return ProcessSetup.print(page.json) }
        guard !page.rooms.isEmpty else {
            return ProcessSetup.complain(self.after == nil ? "no room was ever used\n" : "there are no more rooms\n")
        }
        let output = TerminalOutput.standard
        output.write(page.table(at: Int64(clamping: WallClock.milliseconds())).text(output.style))
        if let next = page.next { ProcessSetup.complain("there are more: --after \(next)\n") }
    }

    /// The fan-outs that are named, or those of the pipeline in the data folder.
    private func queries() throws(OperatorFailure) -> RoomQueries {
        guard self.fanout.isEmpty else {
            var fanouts: [(String, AdminAddress?)] = []
            for url in self.fanout {
                guard let address = AdminAddress(url) else {
                    throw OperatorFailure("--fanout \(url) is not the address of an admin server, http://HOST:PORT")
                }
                fanouts.append((address.authority, address))
            }
            return RoomQueries(fanouts, operatorToken: GivenOperatorToken.value)
        }
        let folder = DataFolder(self.database.data)
        let fanouts = try PsCommand.report(folder).processes.filter { $0.stage == "fanout" && $0.http != nil }
        guard !fanouts.isEmpty else { throw OperatorFailure("no fan-out of \(folder.path) is ready yet") }
        return RoomQueries(
            fanouts.map { ($0.name, $0.http.flatMap(AdminAddress.init)) }, operatorToken: try folder.operatorToken())
    }

    private func show(
        _ answer: (report: LiveRoomReport?, silent: [LiveRoomList.Silence]), of room: String
    ) throws(OperatorFailure) {
        guard let report = answer.report else {
            if let first = answer.silent.first {
                throw OperatorFailure("the room \(room) was not found, but \(first.fanout) \(first.reason)")
            }
            throw OperatorFailure("no fan-out has the room \(room) in memory: nobody is in it")
        }
        let output = TerminalOutput.standard
        guard !self.json else { return ProcessSetup.print(report.json) }
        output.write(report.text(at: Int64(clamping: WallClock.milliseconds()), output.style))
    }

    private func show(_ list: LiveRoomList, of fanouts: Int) throws(OperatorFailure) {
        if list.silent.count == fanouts, let first = list.silent.first {
            throw OperatorFailure("\(first.fanout) \(first.reason)")
        }
        for silence in list.silent { ProcessSetup.complain("touchsync: \(silence.fanout) \(silence.reason)\n") }
        let output = TerminalOutput.standard
        guard !self.json else { return ProcessSetup.print(list.json) }
        guard !list.rooms.isEmpty else { return ProcessSetup.complain("nobody is in any room\n") }
        output.write(list.table().text(output.style))
        if list.isTruncated { ProcessSetup.complain("there are more rooms than these \(list.rooms.count)\n") }
    }
}

extension RoomSort: ExpressibleByArgument {}
