/// Decides when a file is read again that may change while the daemon runs.
///
///     stamp as read ──► nothing         another stamp ──► wait ──► the same stamp again ──► read
///                                                          ▲ └──── a third stamp ────┐
///                                                          └─────────────────────────┘
///
/// A file is recognized by its stamp: replaced by renaming another one over it, written in place, or behind a symbolic
/// link that now leads elsewhere. It is read only when it did not change between two looks, so that a file that is being
/// written in place is not read halfway.
package struct FileFollower: Sendable {
    /// The file that was read last, whether it was accepted or not.
    private var read: FileFacts?
    /// Another one that was seen since.
    private var seen: FileFacts??

    /// A follower of a file that was read at start.
    /// - Parameter stamp: the file as it was before it was read; nil when it could not be examined.
    package init(_ stamp: FileFacts?) {
        self.read = stamp
    }

    /// The file was examined.
    /// - Parameter stamp: nil when it cannot be examined.
    /// - Returns: true when it is to be read now.
    package mutating func examined(_ stamp: FileFacts?) -> Bool {
        guard stamp != self.read else {
            self.seen = nil
            return false
        }
        defer { self.seen = .some(stamp) }
        return self.seen == .some(stamp)
    }

    /// The file was read.
    /// - Parameter stamp: the file before it was read.
    package mutating func wasRead(_ stamp: FileFacts?) {
        self.read = stamp
        self.seen = nil
    }
}
