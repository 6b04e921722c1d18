/// What a foreign descriptor is polled for.
package struct DescriptorInterest: OptionSet, Sendable {
    /// The bits.
    package let rawValue: UInt8
    /// From bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Wake when there is something to read.
    package static let read = DescriptorInterest(rawValue: 1)
    /// Wake when there is room to write.
    package static let write = DescriptorInterest(rawValue: 2)
}

/// A file descriptor that is not ours (libpq's socket, for example) in a reactor's poll set.
///
/// Confined to the reactor's thread. Level triggered: as long as the descriptor stays ready and the interest stays, every
/// turn follows at once. Never closes the descriptor; `cancel` before its owner does.
package final class DescriptorSource {
    /// The watched descriptor; its owner closes it.
    package let descriptor: Int32
    /// May change at any time; takes effect with the next poll. Empty: not polled at all.
    package var interest: DescriptorInterest
    /// Readable at the last poll; also after an error or a hang-up, so that the owner reads and finds out.
    package internal(set) var isReadable = false
    /// Writable at the last poll; also after an error or a hang-up.
    package internal(set) var isWritable = false
    private weak var thread: ReactorThread?

    init(_ descriptor: Int32, _ interest: DescriptorInterest, _ thread: ReactorThread) {
        self.descriptor = descriptor
        self.interest = interest
        self.thread = thread
    }

    /// Takes the descriptor out of the poll set.
    package func cancel() {
        self.isReadable = false
        self.isWritable = false
        self.thread?.forget(self)
        self.thread = nil
    }
}
