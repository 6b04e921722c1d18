internal import Glibc

extension FileBytes {
    /// Writes a file that a person names. A regular file is replaced atomically, and keeps its owner and mode; a new one
    /// is this user's alone. Links are followed. What is no regular file, such as a pipe, a terminal or `/dev/stdout`, is
    /// written to.
    /// - Returns: nil, or a reason that completes the path.
    package static func export(_ bytes: [UInt8], to path: String) -> SettingRefusal? {
        guard let target = self.target(of: path) else {
            return SettingRefusal("cannot be written: \(self.reason(ELOOP))")
        }
        guard let facts = FileFacts(of: path, followsLink: true) else { return self.replace(target, with: bytes) }
        if facts.isFolder { return SettingRefusal("is a folder") }
        // Under any name: what a shell has redirected is not replaced.
        if facts.isSameFile(as: FileFacts(of: STDOUT_FILENO)) {
            return self.write(bytes, to: STDOUT_FILENO) ? nil : self.unwritten
        }
        if facts.isRegular { return self.replace(target, with: bytes, like: facts) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return self.unwritten }
        defer { close(descriptor) }
        return self.write(bytes, to: descriptor) ? nil : self.unwritten
    }

    private static var unwritten: SettingRefusal { SettingRefusal("cannot be written: \(self.reason(errno))") }

    /// What is at the end of symbolic links, though it may not exist; nil when there are too many.
    private static func target(of path: String) -> String? {
        var path = path
        for _ in 0..<40 {
            guard let link = self.link(at: path) else { return path }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = link.hasPrefix("/") ? link : folder + link
        }
        return nil
    }

    /// Where a symbolic link leads; nil when it is none.
    package static func link(at path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The names in a folder, `.` and `..` among them; none when it cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}
