import Glibc

/// A folder of a test's own, which only its user may enter. It goes with this value, with everything in it.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String

    /// A new folder under TMPDIR (or /tmp).
    package init(_ prefix: String = "touchsync-test") throws {
        self.path = try temporaryFolder(prefix)
        chmod(self.path, 0o700)
    }

    deinit { self.remove() }

    /// Removes it now.
    package func remove() { Self.remove(self.path) }

    private static func remove(_ path: String) {
        // Fails for a folder.
        if unlink(path) == 0 { return }
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { Self.remove("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }
}

/// A new folder under TMPDIR (or /tmp) that other users may pass through. Removing it is up to the caller.
package func temporaryFolder(_ prefix: String) throws -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/\(prefix)-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template), chmod(path, 0o755) == 0 else { throw TemporaryFolderFailure(errno: errno) }
    return String(cString: path)
}

/// A temporary folder could not be made.
package struct TemporaryFolderFailure: Error {
    /// As the system said.
    package let errno: Int32
}
