internal import ArgumentParser
internal import Boot
internal import Glibc

/// `touchsync room export`.
struct RoomExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a room as JSON Lines: a header, then one element a line.",
        discussion: """
            It is the room at one moment, its seq in the header. Exit code 1 when nothing was ever done in the room.
            """)

    @Argument(help: "The room's id.")
    var room: RoomName
    @Option(help: "The file, a pipe or a device; by default standard output. A file that exists is replaced.")
    var output: String?
    @OptionGroup var database: DatabaseOptions

    func run() throws {
        try TouchSyncCommand.running {
            let contents = try RoomStore(self.room.id, on: self.database.connect()).contents()
            guard contents.seq > 0 else { throw OperatorFailure("nothing was ever done in room \(self.room.id)") }
            let file = RoomFile(
                room: self.room.id, epoch: contents.epoch, seq: contents.seq, elements: contents.elements)
            try self.write(file.text)
            return 0
        }
    }

    private func write(_ text: [UInt8]) throws(OperatorFailure) {
        if let output {
            if let refusal = FileBytes.export(text, to: output) { throw OperatorFailure("\(output) \(refusal)") }
        } else if !FileBytes.write(text, to: STDOUT_FILENO) {
            throw OperatorFailure("standard output cannot be written", errno: errno)
        }
    }
}
