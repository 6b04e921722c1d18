/// The events for which a foreign descriptor is polled.
package struct DescriptorInterest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = DescriptorInterest(rawValue: 1)
    package static let write = DescriptorInterest(rawValue: 2)
}

/// A foreign file descriptor (libpq's socket, for example) in a reactor's poll set.
///
/// Confined to the reactor's thread. Level triggered: while the descriptor stays ready and the interest is set, turns
/// follow without sleep. Never closes the descriptor; `cancel` before its owner closes it.
package final class DescriptorSource {
    /// The watched descriptor; its owner closes it.
    package let descriptor: Int32
    /// May change at any time; takes effect with the next poll. Empty: not polled.
    package var interest: DescriptorInterest
    /// Readable at the last poll; also set after an error or a hang-up, so that the owner reads and receives the error.
    package internal(set) var isReadable = false
    /// Writable at the last poll; also set after an error or a hang-up.
    package internal(set) var isWritable = false
    private weak var thread: ReactorThread?

    init(_ descriptor: Int32, _ interest: DescriptorInterest, _ thread: ReactorThread) {
        self.descriptor = descriptor
        self.interest = interest
        self.thread = thread
    }

    package func cancel() {
        self.isReadable = false
        self.isWritable = false
        self.thread?.forget(self)
        self.thread = nil
    }
}
