import GatewayCore
import SocketIOServer
import Wire

/// One app as the hub sees it, whatever it speaks.
protocol AppLine: AnyObject {
    /// Whether the app asked for previews that leave together in one message.
    var takesBatches: Bool { get }
    /// Answers an event with one JSON value.
    func acknowledge(_ id: UInt64, _ json: [UInt8])
    /// Answers a join with a large room: the parts go as the app reads, and ``snapshotSent`` is called behind the last one.
    func send(_ snapshot: Snapshot)
    func dropSnapshot(of room: Identifier)
    /// Called when the app was sent all parts of a room's snapshot.
    var snapshotSent: ((Identifier) -> Void)? { get set }
    /// Called when the app's connection has accepted most of what waited.
    var drained: (() -> Void)? { get set }
    /// Bytes that wait for the app: parts of rooms, and what the kernel has not accepted; also once it has gone.
    var outstandingBytes: Int { get }
    /// Sends an event, a JSON array, to this app alone.
    func emit(_ json: [UInt8])
    /// Sends an event that many apps get and share. Previews that wait here and whose gesture ended with it are dropped.
    func send(_ packet: PreparedPacket, step: StreamStep?)
    /// Sends an event that many apps get, unless too much waits for this one.
    /// - Returns: false when it was not sent.
    func offer(_ packet: PreparedPacket) -> Bool
    /// Sends previews but those of `publisher`; the packet holds just these. A slow app gets the latest of them when it can
    /// take more.
    func send(_ previews: [PreviewText], butOf publisher: Slot?, packet: PreparedPacket)
    /// Sends no previews of a room that wait here: the app has lost its place there, or takes another one.
    func dropPreviews(of room: Identifier)
    /// True while the app's connection accepts no more, because the app does not read.
    var isStuck: Bool { get }
    /// True when the app is so far behind that it gets no further updates.
    func isBehind(_ bound: Int) -> Bool
    func disconnect()
    /// Closes the app's connection, so that it connects again elsewhere.
    func goAway()
    /// Closes the app's connection, because it presented too many tokens that were refused.
    func expel()
    /// Closes the app's connection immediately; also what is left of it once the app has gone.
    func shed()
    /// The app has gone: nothing more is sent.
    func ended()
    func reportBadMessage()
}
