#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What a store asks of the system. Errors are `EditStoreError.system`.
enum FileSystem {
    /// What the system calls an error, such as `Permission denied`.
    static func text(ofError number: Int32) -> String { String(cString: strerror(number)) }

    /// Makes a folder, and those around it. Only this user can read what is in it.
    static func makeFolder(_ path: String) throws(EditStoreError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .system("make \(path)", errno: errno)
        }
        try Self.makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("make \(path)", errno: errno) }
    }

    static func names(in folder: String) throws(EditStoreError) -> [String] {
        guard let directory = opendir(folder) else { throw .system("list \(folder)", errno: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names.sorted()
    }

    static func contents(of path: String) throws(EditStoreError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open \(path)", errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw .system("read \(path)", errno: errno) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// Replaces a file: whoever reads it finds the old content or the new one, even after the power failed.
    static func replace(_ path: String, with bytes: [UInt8]) throws(EditStoreError) {
        let draft = path + ".draft"
        try Self.writeDraft(draft, bytes)
        guard rename(draft, path) == 0 else { throw .system("replace \(path)", errno: errno) }
        try Self.flushFolder(of: path)
    }

    /// The name of a file is in its folder: until that is written the old content comes back when the power fails.
    private static func flushFolder(of path: String) throws(EditStoreError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open \(folder)", errno: errno) }
        defer { close(descriptor) }
        // Some file systems cannot flush folders.
        guard Self.flush(descriptor) || errno == EINVAL else { throw .system("write \(folder)", errno: errno) }
    }

    /// Returns when the disk has everything, not only its cache, as far as the system can tell.
    private static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    private static func writeDraft(_ path: String, _ bytes: [UInt8]) throws(EditStoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)", errno: errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("write \(path)", errno: errno) }
            written += count
        }
        guard Self.flush(descriptor) else { throw .system("write \(path)", errno: errno) }
    }

    static func move(_ path: String, to other: String) throws(EditStoreError) {
        guard rename(path, other) == 0 else { throw .system("rename \(path)", errno: errno) }
    }

    /// Removes a file, if there is one.
    static func remove(_ path: String) throws(EditStoreError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .system("remove \(path)", errno: errno) }
    }
}
