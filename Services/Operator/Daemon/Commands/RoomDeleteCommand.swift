internal import ArgumentParser
internal import Boot
internal import Glibc

/// `touchsync room delete`.
struct RoomDeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes all elements of a room, locked ones too.",
        discussion: """
            Members of the room see them go. Their ids cannot be used again in the room, and its history stays in the \
            log until its retention ends. Export the room before, if it may be needed.
            """)

    @Argument(help: "The room's id.")
    var room: RoomName
    @Flag(help: "Do not ask for confirmation.")
    var yes = false
    @Flag(help: "Print one line of JSON: roomId, deleted, seq.")
    var json = false
    @OptionGroup var database: DatabaseOptions

    func run() throws {
        try TouchSyncCommand.running {
            let store = RoomStore(self.room.id, on: try self.database.connect())
            let contents = try store.contents()
            guard contents.seq > 0 else { throw OperatorFailure("nothing was ever done in room \(self.room.id)") }
            if !self.yes { try self.confirm(contents.elements.count) }
            let deleted = try RoomDeletion().run(on: store)
            let seq = try store.contents().seq
            let text = "deleted \(deleted) elements of room \(self.room.id)\n"
            ProcessSetup.print(self.json ? self.room.report("deleted", deleted, seq: seq) : text)
            return 0
        }
    }

    private func confirm(_ count: Int) throws(OperatorFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw OperatorFailure("standard input is no terminal; confirm with --yes", exitCode: EX_USAGE)
        }
        ProcessSetup.complain("Delete all \(count) elements of room \(self.room.id)? Type the room's id: ")
        guard readLine() == self.room.id else { throw OperatorFailure("not confirmed: nothing was deleted") }
    }
}
