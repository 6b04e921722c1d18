internal import Glibc

/// A file's metadata. It is in this module because `struct stat` cannot be named in a module that, through the token
/// library, also imports Foundation's view of C.
package struct FileFacts: Sendable {
    /// True for a folder.
    package let isFolder: Bool
    /// The user that owns it.
    package let owner: UInt32
    /// The permission bits, such as 0o700.
    package let permissions: UInt32
    /// In bytes.
    package let size: Int

    /// - Parameter followsLink: true to resolve a symbolic link.
    /// - Returns: nil when the file does not exist or is not accessible.
    package init?(of path: String, followsLink: Bool) {
        var facts = stat()
        guard (followsLink ? stat(path, &facts) : lstat(path, &facts)) == 0 else { return nil }
        self.isFolder = facts.st_mode & S_IFMT == S_IFDIR
        self.owner = facts.st_uid
        self.permissions = facts.st_mode & 0o7777
        self.size = Int(facts.st_size)
    }
}
