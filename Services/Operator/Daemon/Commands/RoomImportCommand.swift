internal import ArgumentParser
internal import Boot
internal import CommitterCore
internal import Glibc

/// `touchsync room import`.
struct RoomImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Restores an exported room in a room without elements.",
        discussion: """
            Elements keep their ids, authors, revisions and all other fields; members of the room see them come. Every \
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
    @Option(help: "Elements in a room; the committers' setting.")
    var roomElements = CommitterLimits().roomElements
    @Option(help: "Bytes of a room's elements; the committers' setting.")
    var roomBytes = CommitterLimits().roomBytes
    @Option(help: "Annotations of one element; the committers' setting.")
    var elementAnnotations = CommitterLimits().elementAnnotations
    @OptionGroup var database: DatabaseOptions

    func run() throws {
        try TouchSyncCommand.running {
            let work = try RoomImport(self.read())
            let store = RoomStore(self.room.id, on: try self.database.connect(), limits: self.limits)
            let restored = try work.run(on: store)
            let seq = try store.contents().seq
            ProcessSetup.print(self.json ? self.room.report("imported", restored, seq: seq) : self.text(work, restored))
            return 0
        }
    }

    private var limits: CommitterLimits {
        var limits = CommitterLimits()
        limits.roomElements = self.roomElements
        limits.roomBytes = self.roomBytes
        limits.elementAnnotations = self.elementAnnotations
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
