internal import ArgumentParser
internal import Boot
internal import CommitterCore
internal import Glibc
internal import JSONBytes
internal import Stages

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
        JSONWriter.line { writer in
            writer.member("roomId", self.id)
            writer.member(name, count)
            writer.member("seq", seq)
        }
    }
}

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

struct RoomImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Restores an exported room, or a file of Excalidraw or tldraw, in a room without elements.",
        discussion: """
            Elements of a room keep their ids, authors, revisions and all other fields; members of the room see them come. Every \
            line is checked before anything is written. The room may have another name than the exported one. An \
            interrupted import is completed by running it again with the same file.
            """)

    /// Larger than any room that a join could answer with.
    private static let mostBytes = 256 << 20

    @Argument(help: "The id of the room to be filled.")
    var room: RoomName
    @Option(help: "The file; by default standard input.")
    var input: String?
    @Flag(help: "Print one line of JSON: roomId, imported, seq.")
    var json = false
    @Option(help: "Elements in a room, where the settings here are not the committers'.")
    var roomElements: Int?
    @Option(help: "Bytes of a room's elements; likewise.")
    var roomBytes: Int?
    @Option(help: "Annotations of one element; likewise.")
    var elementAnnotations: Int?
    @OptionGroup var database: DatabaseOptions

    func run() throws {
        try TouchSyncCommand.running {
            let work = try RoomImport(self.read())
            let store = RoomStore(self.room.id, on: try self.database.connect(), limits: try self.limits())
            let restored = try work.run(on: store)
            let seq = try store.contents().seq
            ProcessSetup.print(self.json ? self.room.report("imported", restored, seq: seq) : self.text(work, restored))
            if !work.left.isEmpty { ProcessSetup.complain(self.left(work)) }
            return 0
        }
    }

    private func limits() throws -> CommitterLimits {
        let settings = try self.database.settings.values(.committer)
        var limits = CommitterLimits()
        limits.roomElements = self.roomElements ?? settings[SharedSettings.roomElements]
        limits.roomBytes = self.roomBytes ?? settings[SharedSettings.roomBytes]
        limits.elementAnnotations = self.elementAnnotations ?? settings[SharedSettings.elementAnnotations]
        limits.pictureBytes = settings[SharedSettings.pictureBytes]
        return limits
    }

    private func text(_ work: RoomImport, _ restored: Int) -> String {
        switch work.count - restored {
        case 0: "imported \(restored) elements into room \(self.room.id)\n"
        case work.count: "room \(self.room.id) got this file before; what was deleted since stays deleted\n"
        case let before:
            "imported the \(restored) elements that were missing into room \(self.room.id), "
                + "\(before) were there\n"
        }
    }

    private func left(_ work: RoomImport) -> String {
        "left out or changed: \(work.left.map { "\($0.count) × \($0.what)" }.joined(separator: ", "))\n"
    }

    private func read() throws(OperatorFailure) -> [UInt8] {
        let bytes =
            self.input.map { FileBytes.read($0, limit: Self.mostBytes) }
            ?? FileBytes.read(STDIN_FILENO, limit: Self.mostBytes)
        switch bytes {
        case .success(let bytes): return bytes
        case .failure(let refusal): throw OperatorFailure("\(self.input ?? "standard input") \(refusal)")
        }
    }
}

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
