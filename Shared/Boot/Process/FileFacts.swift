internal import Glibc

/// A file's metadata. Of a path at two moments they differ when it is another file, or the same one written again. It is in this module because `struct stat` cannot be named in a module that, through the token
/// library, also imports Foundation's view of C.
package struct FileFacts: Sendable, Equatable {
    package let isFolder: Bool
    /// True for a file with contents of its own, hence not for a folder, a pipe or a device.
    package let isRegular: Bool
    /// The user and the group that own it.
    package let owner: UInt32
    package let group: UInt32
    /// The permission bits, such as 0o700.
    package let permissions: UInt32
    /// In bytes.
    package let size: Int
    private let device: UInt
    private let inode: UInt
    /// Nanoseconds since 1970 of the last write, and of the last change of the inode, which no program can set.
    private let written: Int
    private let changed: Int

    /// - Parameter followsLink: true to resolve a symbolic link.
    /// - Returns: nil when the file does not exist or is not accessible.
    package init?(of path: String, followsLink: Bool = true) {
        var facts = stat()
        guard (followsLink ? stat(path, &facts) : lstat(path, &facts)) == 0 else { return nil }
        self.init(facts)
    }

    /// The metadata of an open file.
    /// - Returns: nil when it cannot be examined.
    package init?(of descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Whether both describe one file, under whatever names.
    package func isSameFile(as other: FileFacts?) -> Bool {
        other.map { $0.device == self.device && $0.inode == self.inode } ?? false
    }

    private init(_ facts: stat) {
        self.isFolder = facts.st_mode & S_IFMT == S_IFDIR
        self.isRegular = facts.st_mode & S_IFMT == S_IFREG
        self.owner = facts.st_uid
        self.group = facts.st_gid
        self.device = UInt(facts.st_dev)
        self.inode = UInt(facts.st_ino)
        self.permissions = facts.st_mode & 0o7777
        self.size = Int(facts.st_size)
        self.written = facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec
        self.changed = facts.st_ctim.tv_sec &* 1_000_000_000 &+ facts.st_ctim.tv_nsec
    }
}
