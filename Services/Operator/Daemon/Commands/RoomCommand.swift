internal import ArgumentParser
internal import JSONBytes

/// `touchsync room`.
struct RoomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room", abstract: "Exports, imports and empties rooms; the pipeline may run meanwhile.",
        subcommands: [RoomExportCommand.self, RoomImportCommand.self, RoomDeleteCommand.self])
}

/// A room's id on the command line.
struct RoomName: ExpressibleByArgument {
    let id: String

    init?(argument: String) {
        guard argument != "*", TokenCommand.isRoom(argument) else { return nil }
        self.id = argument
    }

    /// What a command prints with `--json`: one line.
    func report(_ name: StaticString, _ count: Int, seq: UInt64) -> String {
        let text = JSONWriter.text { writer in
            writer.member("roomId", self.id)
            writer.member(name, count)
            writer.member("seq", seq)
        }
        return String(decoding: text, as: UTF8.self) + "\n"
    }
}
