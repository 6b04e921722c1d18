public import TouchSyncClientCore

/// A connection to a TouchSync server, with rooms.
///
/// What is called without `await` happens in the order of the calls. A client that nobody keeps any more closes its
/// connection; `close` in addition waits until its edits are saved.
public actor SyncClient {
    static let patience = Duration.seconds(5)

    nonisolated let inbox = Inbox()
    nonisolated let hubs = RoomHubs()
    nonisolated let stateListeners = Broadcast<ClientState>()
    nonisolated let errorListeners = Broadcast<any Error>()
    nonisolated let failureListeners = Broadcast<ConnectionFailure>()
    let clock: ClientClock
    let transport: any Transport
    let address: ServerOrigin
    let tokenProvider: TokenProvider?
    let savedRooms: SavedRooms?
    #if canImport(Network)
        /// Whether it hears of the device's networks.
        nonisolated let isFollowingDevice = Locked(false)
    #endif
    nonisolated let tasks = TaskBag()
    let results = AwaitedResults()
    var core: ClientCore
    var socket: SocketSession?
    var timer = ClientTimer()
    var pageLimits = PageLimits()
    var held = HeldTexts()
    /// Whether inputs wait for what an earlier run of the app saved.
    var isRestoring: Bool
    /// Settled once they do not any more.
    let restoring = Promise<Void>()
    var isClosed = false

    /// Tells a token, or nil when there is none, which ends the attempt: the client is `expired`. After an error it is asked
    /// again later.
    public typealias TokenProvider = @Sendable (TokenReason) async throws -> String?

    /// A client of one server and one user, which was not told to connect yet.
    /// - Parameters:
    ///   - url: of the server; what it has behind host and port is not used.
    ///   - user: without tokens: who this is.
    ///   - token: asked for a token before each connection, before the present one ends, and when it was refused.
    ///   - store: keeps edits without a result over restarts; needs an owner.
    ///   - owner: whose edits these are: another user of the same device has others.
    ///   - queueLimit: the maximum number of edits that wait in one room.
    ///   - motion: whether elements move by themselves; without it they are where they are stored, as somebody wants who
    ///     prefers reduced motion.
    ///   - transport: how the server is reached.
    /// - Throws: `ClientSetupError`.
    public init(
        url: String, user: ClientUser = .guest, token: TokenProvider? = nil, store: (any EditStore)? = nil,
        owner: String? = nil, queueLimit: Int = 1000, motion: Bool = true,
        transport: any Transport = PlatformTransport.make()
    ) throws(ClientSetupError) {
        try self.init(
            url: url, user: user, token: token, store: store, owner: owner, queueLimit: queueLimit,
            motion: motion, transport: transport, clock: ClientClock())
    }

    /// The same with another clock, for tests.
    package init(
        url: String, user: ClientUser = .guest, token: TokenProvider? = nil, store: (any EditStore)? = nil,
        owner: String? = nil, queueLimit: Int = 1000, motion: Bool = true,
        transport: any Transport, clock: ClientClock
    ) throws(ClientSetupError) {
        guard let address = ServerOrigin(url) else { throw .url(url) }
        self.savedRooms = try store.map { store throws(ClientSetupError) in
            guard let owner, !owner.isEmpty else { throw .ownerMissing }
            return SavedRooms(store: store, account: EditAccount(owner: owner, origin: address.origin))
        }
        self.address = address
        self.transport = transport
        self.tokenProvider = token
        self.clock = clock
        let options = ClientOptions(
            handshake: user.handshake, hasTokens: token != nil, queueLimit: queueLimit, motion: motion)
        self.core = ClientCore(options: options)
        self.isRestoring = store != nil
        guard let savedRooms = self.savedRooms else { return }
        Task { [weak self, errorListeners] in
            await savedRooms.open(failed: errorListeners, clock: clock)
            guard let self else { return await savedRooms.close(patience: Self.patience) }
            await self.restored()
        }
    }

    deinit {
        self.socket?.close()
        self.timer.stop()
        self.tasks.cancelAll()
        self.endListening()
        self.results.close()
        self.restoring.settle(.success(()))
        for item in self.inbox.takeAll() { item.edit?.result.settle(.failure(ClientError.closed)) }
        if let savedRooms = self.savedRooms { Task { await savedRooms.close(patience: Self.patience) } }
    }

    // MARK: The connection

    /// Connects, and stays connected until `disconnect`: what is lost comes back by itself.
    public nonisolated func connect() { self.post(.connect) }

    /// Disconnects, until the next `connect`. Rooms and edits stay; edits are sent then.
    public nonisolated func disconnect() { self.post(.disconnect) }

    /// Ends for good, and leaves saved edits to the next client of the same owner. Returns when everything is saved, or
    /// the store takes too long.
    public func close() async {
        await self.waitUntilRestored(patience: Self.patience)
        guard !self.isClosed else { return }
        self.takeInputs()
        self.input(.disconnect)
        self.isClosed = true
        self.timer.stop()
        self.tasks.cancelAll()
        self.results.close()
        self.restoring.settle(.success(()))
        self.takeInputs()
        self.endListening()
        await self.savedRooms?.close(patience: Self.patience)
    }

    /// The app is visible again.
    public nonisolated func foregrounded() { self.post(.foregrounded) }

    /// The app is not visible any more.
    public nonisolated func backgrounded() { self.post(.backgrounded) }

    /// The device has a network again.
    public nonisolated func networkReturned() { self.post(.networkReturned) }

    /// The device has no network any more: the connection counts as lost.
    public nonisolated func networkLost() { self.post(.networkLost) }

    /// How far the client is.
    public var state: ClientState {
        self.takeInputs()
        return self.core.state
    }

    /// Why the last attempt to connect failed; nil before the first, and once a connection is there. A connection that is
    /// lost is none; attempts after it may be.
    public var lastFailure: ConnectionFailure? {
        self.takeInputs()
        return self.core.lastFailure
    }

    /// Who the server says that this user is; nil before the first join of a room. What the user may do in a room is in its
    /// `me`.
    public var me: ClientUser? {
        self.takeInputs()
        return self.core.ownMembership.map { ClientUser(id: $0.userId, name: $0.name, color: $0.color) }
    }

    /// Both at one moment.
    var connection: (ClientState, ConnectionFailure?) { (self.state, self.core.lastFailure) }

    /// Why the attempts that follow fail, until the client ends. A slow consumer gets the latest 64.
    public nonisolated var failures: AsyncStream<ConnectionFailure> { self.failureListeners.listen() }

    /// The states that follow, until the client ends. A slow consumer gets the latest 64.
    public nonisolated var states: AsyncStream<ClientState> { self.stateListeners.listen() }

    /// What the server refused without being asked, failures of the store, and of the app's provider of tokens; until
    /// the client ends. A slow consumer gets the latest 64.
    public nonisolated var errors: AsyncStream<any Error> { self.errorListeners.listen() }

    /// A room, which is joined as soon as there is a connection.
    public nonisolated func room(_ id: String) -> SyncRoom {
        let hub = self.hubs.enter(id)
        self.post(.room(id, .join(record: nil)))
        return SyncRoom(id: id, client: self, hub: hub)
    }

    // MARK: The end

    private nonisolated func endListening() {
        self.hubs.finish()
        self.stateListeners.finish()
        self.errorListeners.finish()
        self.failureListeners.finish()
    }
}

extension ClientError {
    static let closed = ClientError(code: .closed, message: "The client was closed.")
}
