public import NIOCore
public import SocketIO

/// One client in one namespace. Used on the loop only.
///
/// ```
/// asked --accept--> connected --disconnect, leave, end of the connection--> gone
///   +----refuse, end of the connection-------------------------------------> gone
/// ```
/// Every method may be called at any time; a call that does not apply in the present state has no effect.
public final class SocketIOSocket {
    private enum State: UInt8 { case asked, connected, gone }

    private let session: EngineIOSession
    private let identifier: EngineID
    private var state = State.asked

    public let namespace: Namespace
    /// For the application's use; 0 at first.
    public var tag = 0
    /// For the application's use; released when the socket is gone.
    public var userInfo: AnyObject?

    init(_ session: EngineIOSession, _ namespace: Namespace) {
        self.session = session
        self.namespace = namespace
        self.identifier = session.makeID()
    }

    var idText: [UInt8] { self.identifier.text }
    public var engine: EngineIOSession { self.session }
    /// Whether it was accepted and is not gone.
    public var isConnected: Bool { self.state == .connected }
    public var remoteAddress: SocketAddress? { self.session.remoteAddress }
    /// The address whose limits the client counts for; `nil` if it is not limited, such as direct ones from loopback.
    public var limitedAddress: AddressKey? { self.session.account?.key }
    /// Frees the request that opened the session, some hundred bytes a connection.
    public func releaseHandshake() { self.session.releaseHandshake() }
    /// Bytes queued for the whole connection: ``EngineIOSession/bufferedBytes``.
    public var bufferedBytes: Int { self.session.bufferedBytes }
    /// How many of them may be queued: ``SocketIOServer/Configuration/maxBufferedBytes``.
    public var maxBufferedBytes: Int { self.session.loop.configuration.maxBufferedBytes }
    /// ``EngineIOSession/outstandingBytes``; also once the socket is gone.
    public var outstandingBytes: Int { self.session.outstandingBytes }
    /// Whether fewer bytes are queued than the high water mark; cheap.
    public var isWritable: Bool { self.session.isWritable }

    // MARK: Answering CONNECT

    /// Accepts the client. `members` is raw JSON spliced into the response: `"epoch":3,"x":[]`.
    public func accept(members: some Collection<UInt8>) {
        guard self.state == .asked else { return }
        self.state = .connected
        self.session.layer?.joined(self)
        self.session.layer?.sendConnected(self, members: members)
    }

    public func accept() { self.accept(members: EmptyCollection()) }

    /// Refuses: `44{"message":…,"data":…}` with raw JSON `data`. The connection stays open until the connect timeout,
    /// so that the client may retry.
    public func refuse(message: String, data: [UInt8] = []) {
        guard self.state == .asked else { return }
        guard let layer = self.session.layer else { return }
        layer.refused(self)
        layer.sendConnectError(self.namespace, message: message, data: data)
        self.end(.serverNamespace, layer.application)
    }

    // MARK: Sending

    /// Queues a prepared packet without copying or encoding.
    public func send(_ packet: PreparedPacket) {
        guard self.state == .connected else { return }
        self.session.loop.statistics.packetsOut += UInt64(packet.packetCount)
        self.session.send(packet)
    }

    /// Queues a prepared packet, unless the high water mark is reached, or more than half of ``maxBufferedBytes`` would
    /// be queued then.
    /// - Returns: false when it was not queued.
    public func offer(_ packet: PreparedPacket) -> Bool {
        guard self.state == .connected, self.session.offer(packet) else { return false }
        self.session.loop.statistics.packetsOut += UInt64(packet.packetCount)
        return true
    }

    /// Sends an event; `json` is the array `["name", …]`, used unchanged.
    public func emit(_ json: some Collection<UInt8>) {
        self.emit(json, attachments: [])
    }

    /// Sends an event whose `json` contains a placeholder for each attachment.
    public func emit(_ json: some Collection<UInt8>, attachments: [[UInt8]]) {
        guard self.state == .connected else { return }
        self.session.layer?.sendPacket(.event, self.namespace, ackID: nil, json: json, attachments: attachments)
    }

    /// Acknowledges an event; `json` is the array of arguments.
    /// - Parameter isBounded: false when it does not count against
    ///   ``SocketIOServer/Configuration/maxBufferedBytes``: the application bounds such answers itself.
    public func acknowledge(
        _ id: UInt64, _ json: some Collection<UInt8>, attachments: [[UInt8]] = [], isBounded: Bool = true
    ) {
        guard self.state == .connected else { return }
        if !isBounded { self.session.exempt(json.count) }
        self.session.layer?.sendPacket(.ack, self.namespace, ackID: id, json: json, attachments: attachments)
    }

    // MARK: Ending

    /// Disconnects this namespace (`41`); the connection stays open. `disconnected` is called before this returns.
    public func disconnect() {
        guard self.state == .connected else { return }
        self.session.layer?.sendDisconnect(self.namespace)
        self.session.layer?.leave(self, .serverNamespace)
    }

    /// Closes the whole connection; clients with automatic reconnection reconnect. `disconnected` is called before this
    /// returns.
    public func closeEngine(code: UInt16 = 1000, reason: StaticString = "") {
        self.session.close(code: code, reason: reason)
    }

    /// Closes the whole connection immediately, with all that waits for the client; also once the socket is gone.
    /// `disconnected` is called before this returns.
    public func shed() { self.session.shed() }

    /// Closes the whole connection because the server shuts down: all kinds of clients reconnect, including polling
    /// ones. `disconnected` is called before this returns.
    public func goAway() { self.session.end(.goingAway) }

    /// Counts a packet that is valid for Socket.IO but not for the application; too many close the connection.
    public func reportBadPacket() { self.session.layer?.badPacketReceived() }

    func end(_ why: DisconnectReason, _ application: any SocketIOApplication) {
        guard self.state != .gone else { return }
        self.state = .gone
        application.disconnected(self, reason: why)
        self.userInfo = nil
    }
}
