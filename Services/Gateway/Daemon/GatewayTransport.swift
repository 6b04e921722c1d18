package import GatewayCore
package import Mesh
package import Stages
package import Timing
package import Wire

/// What a gateway's core stands between: the connections of its apps, and the links to the stages behind.
package protocol GatewayTransport: AnyObject {
    /// The present moment.
    var moment: Instant { get }
    /// Where records go.
    var routes: MeshRoutes { get set }
    /// Seconds since 1970, for tokens and new ids.
    var seconds: Double { get }
    /// How long what the links bring at a moment has waited.
    func lateness(at moment: Instant) -> Nanoseconds
    /// False when previews have had their turn in this pass of the thread.
    func takePreviewTurn() -> Bool
    /// Does what the core wants done: apps are written to, records wait for the next flush.
    /// - Returns: what could not be sent, if the core must hear of it.
    func perform(_ action: GatewayAction) -> Unsent?
    /// Runs what sends to many apps, and flushes their connections once.
    func flushing(_ body: () -> Void)
    func send(_ envelope: EnvelopeWriter, to instance: StageInstance) -> SendResult
    /// Bytes that a connection still holds; 0 once nothing is left of it.
    /// - Parameter slot: of its app, if that has not gone.
    func unreadBytes(of connection: UInt64, in slot: Slot?) -> Int
    /// An app has gone.
    /// - Parameter owesAnswers: it has not read all of its answers.
    func gone(_ slot: Slot, connection: UInt64, owesAnswers: Bool)
}

/// What could not be sent.
package enum Unsent {
    /// The update of that number, to apps for which too much waits.
    case update(to: [Slot], in: Identifier, UInt64)
    /// A commit for which the committer has given no credit.
    case commit(Commit)
}
