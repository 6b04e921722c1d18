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
