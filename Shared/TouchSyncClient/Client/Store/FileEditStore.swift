/// Keeps edits in a folder of files: `FOLDER/server/user/room.json`, each replaced whole.
///
/// A file that cannot be read is renamed to `room.json.broken`, and its edits are lost. While a client has an account,
/// it holds the lock of `FOLDER/server/user/lock`.
public actor FileEditStore: EditStore {
    /// A client that ends gives its account back within this time.
    private static let patience = Duration.milliseconds(500)

    private let folder: String
    private var locks: [EditAccount: FileLock] = [:]

    /// A store in a folder, which is made when it is needed; the present one if it has no name.
    public init(folder: String) {
        self.folder = folder.isEmpty ? "." : folder
    }

    /// Waits for half a second while another client has the account.
    public func open(_ account: EditAccount) async throws -> [SavedEdits] {
        let folder = self.folder(of: account)
        try FileSystem.makeFolder(folder)
        self.locks[account] = try await Self.lock(folder + "/lock")
        do {
            return try FileSystem.names(in: folder).filter { $0.hasSuffix(FileName.suffix) }
                .compactMap { try Self.readEdits(folder + "/" + $0) }
        } catch {
            self.locks[account] = nil
            throw error
        }
    }

    /// Replaces the room's file.
    public func save(_ edits: SavedEdits, of account: EditAccount) throws {
        guard self.locks[account] != nil else { throw EditStoreError.inUse }
        try FileSystem.replace(self.file(of: edits.room, account), with: edits.text)
    }

    /// Removes the room's file.
    public func clear(_ room: String, of account: EditAccount) throws {
        guard self.locks[account] != nil else { throw EditStoreError.inUse }
        try FileSystem.remove(self.file(of: room, account))
    }

    /// Gives the lock back.
    public func close(_ account: EditAccount) {
        self.locks[account] = nil
    }

    private static func lock(_ path: String) async throws -> FileLock {
        let end = ContinuousClock.now + Self.patience
        while true {
            if let lock = try FileLock(path: path) { return lock }
            if ContinuousClock.now > end { throw EditStoreError.inUse }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Nil for a file that is broken: it is put aside.
    private static func readEdits(_ path: String) throws -> SavedEdits? {
        if let edits = SavedEdits(text: try FileSystem.contents(of: path)) { return edits }
        try FileSystem.move(path, to: path + ".broken")
        return nil
    }

    private func folder(of account: EditAccount) -> String {
        let folders = FileName.folders(account.origin) + FileName.folders(account.owner)
        return folders.reduce(self.folder) { $0 + "/" + $1 }
    }

    private func file(of room: String, _ account: EditAccount) throws -> String {
        try self.folder(of: account) + "/" + FileName.file(room: room)
    }
}

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that one opener at a time holds: another one in this process, or in any other, is refused. The system gives it
/// back when the process ends.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Creates the file if there is none; nil when somebody else holds it.
    init?(path: String) throws(EditStoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)", errno: errno) }
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return nil
            default: throw .system("lock \(path)", errno: errno)
            }
        }
    }

    deinit { _ = close(self.descriptor) }
}
