package import GatewayCore
package import Mesh
package import Stages
package import Timing
package import Wire

/// What a gateway's core stands between: the connections of its apps, and the links to the stages behind.
package protocol GatewayTransport: AnyObject {
    /// The present moment.
    var moment: Instant { get }
    /// Seconds since 1970, for tokens and new ids.
    var seconds: Double { get }
    /// How long what the links bring at a moment has waited.
    func lateness(at moment: Instant) -> Nanoseconds
    /// False when previews have had their turn in this pass of the thread.
    func takePreviewTurn() -> Bool
    /// Does what is for apps, but for what has a method of its own.
    /// - Returns: what is for stages.
    func perform(_ action: GatewayAction) -> GatewayAction?
    /// Sends an event to many apps.
    /// - Returns: those that get it no more, because too much waits for them.
    func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) -> [Slot]
    /// Closes a connection immediately.
    /// - Parameter slot: of its app, if that has not gone.
    func shed(_ debtor: AnswerBudget.Debtor, in slot: Slot?)
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
