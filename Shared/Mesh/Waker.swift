internal import CLinux
internal import Glibc

/// Wakes a reactor from any thread: an eventfd in its poll set.
package final class Waker: Sendable {
    let descriptor: Int32

    init() throws(MeshError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw MeshError(errno: errno, "cannot make an eventfd") }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Makes the reactor run another turn. Each call is a system call: signal per batch, not per element.
    package func signal() {
        var one: UInt64 = 1
        // The only failure is a full counter, and then it is signalled already.
        _ = write(self.descriptor, &one, 8)
    }

    func acknowledge() {
        var count: UInt64 = 0
        _ = read(self.descriptor, &count, 8)
    }
}
