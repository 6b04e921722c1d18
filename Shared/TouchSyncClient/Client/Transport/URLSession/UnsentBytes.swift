#if canImport(Darwin)
    import Foundation

    /// How many bytes of a connection wait to be sent.
    final class UnsentBytes: @unchecked Sendable {
        private let limit: Int
        private let lock = NSLock()
        // Used under the lock only.
        private var count = 0

        /// None; at most `limit` may wait before a message is added.
        init(limit: Int) { self.limit = limit }

        /// Adds a message's bytes; false if too many wait.
        func add(_ size: Int) -> Bool {
            self.lock.withLock {
                guard self.count <= self.limit else { return false }
                self.count += size
                return true
            }
        }

        /// A message was sent or dropped.
        func remove(_ size: Int) { self.lock.withLock { self.count -= size } }
    }
#endif
