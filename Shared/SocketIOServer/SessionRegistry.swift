internal import SocketIO

final class SessionRegistry {
    let loop: ServerLoop
    private var sessions: [EngineID: EngineIOSession] = [:]
    private var generator = SystemRandomNumberGenerator()
    private let name: [UInt8]

    init(_ loop: ServerLoop) {
        self.loop = loop
        self.name = Array(loop.configuration.name.utf8)
    }

    var count: Int { self.sessions.count }

    var all: [EngineIOSession] { Array(self.sessions.values) }

    /// Bytes kept for all sessions, besides those of their connections.
    var heldBytes: Int { self.sessions.values.reduce(0) { $0 + $1.heldBytes } }

    /// A new id for a session or a socket.
    func makeID() -> EngineID { EngineID(using: &self.generator) }

    func sid(_ id: EngineID) -> [UInt8] { SessionID(server: self.name, id: id).text }

    /// The open session with this id from the wire. Ids that another server gave out are counted.
    func session(sid: [UInt8]) -> EngineIOSession? {
        guard let sid = SessionID(sid) else { return nil }
        guard sid.server == self.name else {
            self.loop.statistics.foreignSessions += 1
            return nil
        }
        return self.sessions[sid.id]
    }

    func mayOpen(_ account: AddressAccount?) -> Bool {
        let configuration = self.loop.configuration
        let mayOpen =
            self.count < configuration.maxConnections
            && account?.sessions ?? 0 < configuration.maxConnectionsPerAddress
        if !mayOpen { self.loop.statistics.refusedSessions += 1 }
        return mayOpen
    }

    /// Opens a session, which has no application yet.
    func open(
        _ handshake: Handshake, _ timings: EngineTimings, route: Int, _ carrier: SessionCarrier,
        _ account: AddressAccount?
    ) -> EngineIOSession {
        self.loop.statistics.sessions += 1
        let session = EngineIOSession(self, handshake, timings, route: route, carrier, account)
        self.sessions[session.id] = session
        account?.sessions += 1
        return session
    }

    func remove(_ session: EngineIOSession) {
        guard self.sessions.removeValue(forKey: session.id) != nil else { return }
        session.account?.sessions -= 1
    }

    /// The open packet. Intervals are integers: some clients require that.
    func openPacket(_ session: EngineIOSession) -> [UInt8] {
        let configuration = self.loop.configuration
        let upgrades = session.transport == .polling ? #"["websocket"]"# : "[]"
        let interval = max(1, configuration.pingInterval.milliseconds)
        let text =
            #"{"sid":"\#(session.sid)","upgrades":\#(upgrades),"pingInterval":\#(interval),"#
            + #""pingTimeout":\#(configuration.pingTimeout.milliseconds),"maxPayload":\#(configuration.maxPayload)}"#
        return [EnginePacketType.open.rawValue] + Array(text.utf8)
    }
}
