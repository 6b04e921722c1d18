package import Wire

/// A large room on its way to one app: the answer to its join, and the parts that follow it.
package struct Snapshot: Equatable, Sendable {
    package let room: Identifier
    /// The acknowledgement that the app asked for.
    package let ackID: UInt64
    /// The JSON array of the acknowledgement's only argument.
    package let arguments: [UInt8]
    /// Events that follow it, in order: `room:elements`. Empty when the answer has all elements itself.
    package let parts: SnapshotParts
}
