import JSONBytes

/// The connection, from the wish for one to its loss.
///
///     offline ──► token ──► opening ──► opened ──► greeted ──► up ──► offline … and expired, without a token that the
///     server accepts
///
/// What it does that rooms must hear of is the result of each call.
struct ClientLink: Sendable {
    /// How far an attempt got: the app is asked for a token, there is a socket, it is open, the server speaks Engine.IO,
    /// this client is let in.
    enum Phase: Sendable {
        case offline, token, opening, opened, greeted, up, expired
    }

    /// What rooms must hear of.
    enum Transition: Sendable {
        case none, lost, accepted
    }

    private let options: ClientOptions
    private(set) var phase = Phase.offline
    /// Why the last attempt failed; nil once a connection is there.
    private(set) var lastFailure: ConnectionFailure?
    /// Whether it leaves a server that stops.
    private(set) var isDraining = false
    private(set) var tokens = TokenHolder()
    /// Whether the app wants to be connected.
    private var isWanted = false
    private var pause = ReconnectPause()
    private var watch = ConnectionWatch()
    private var acceptedAt: Int64 = 0
    /// When the next attempt begins, when it counts as slow, when a server that stops is left, and when the server's time is
    /// asked for, ms.
    private var connectAt, slowAt, leaveAt, sampleAt: Int64?
    /// An attempt tells why it would fail after this long, ms.
    private static let slow: Int64 = 4000
    /// Its time is asked for again after this long, ms.
    private static let resample: Int64 = 300_000
    /// Since when the app is hidden, ms; nil while it is visible.
    private var hiddenAt: Int64?
    /// Shorter trips to the background are not worth a message, ms.
    private static let shortTrip: Int64 = 2000

    init(options: ClientOptions) {
        self.options = options
    }

    func deadline(_ outbox: ClientOutbox) -> Int64? {
        earliest(self.connectAt, self.slowAt, self.leaveAt, self.sampleAt, self.watch.deadline, self.probeTime(outbox))
    }

    private func probeTime(_ outbox: ClientOutbox) -> Int64? {
        self.phase == .up ? self.watch.probeTime(oldestRequest: outbox.oldestRequestTime) : nil
    }

    var hasSocket: Bool {
        switch self.phase {
        case .opening, .opened, .greeted, .up: true
        case .offline, .token, .expired: false
        }
    }

    /// Whether what answers is a server of Engine.IO.
    var isGreeted: Bool { self.phase == .greeted || self.phase == .up }

    // MARK: The app's wishes

    mutating func connect(_ outbox: inout ClientOutbox) {
        self.isWanted = true
        self.tokens.refused = nil
        self.pause.reset()
        if self.phase == .offline || self.phase == .expired { self.begin(&outbox) }
    }

    mutating func disconnect(random: Double, _ outbox: inout ClientOutbox) -> Transition {
        self.isWanted = false
        if self.phase == .up { outbox.write("41") }
        return self.lost(random: random, &outbox)
    }

    mutating func tokenProvided(_ token: String?, random: Double, _ outbox: inout ClientOutbox) -> Transition {
        if self.phase == .up, self.tokens.isRefreshing {
            self.refresh(token, &outbox)
            return .none
        }
        guard self.phase == .token else { return .none }
        if self.tokens.accept(token) {
            self.open(&outbox)
            return .none
        }
        self.expire(&outbox)
        return .none
    }

    /// There is no token, or one that the server would refuse again: the next attempt is the app's to make.
    private mutating func expire(_ outbox: inout ClientOutbox) {
        self.attemptFailed(nil, &outbox)
        self.phase = .expired
        (self.connectAt, self.slowAt) = (nil, nil)
        self.watch.stop()
    }

    /// The app does not know now whether it has a token.
    mutating func tokenFailed(random: Double, _ outbox: inout ClientOutbox) -> Transition {
        self.tokens.isRefreshing = false
        return self.phase == .token ? self.lost(random: random, &outbox) : .none
    }

    // MARK: Time and surroundings

    mutating func timeReached(random: Double, _ outbox: inout ClientOutbox) -> Transition {
        let now = outbox.now
        if self.watch.isDead(at: now) { return self.lost(random: random, &outbox) }
        if let leaveAt, now >= leaveAt { return self.lost(random: random, &outbox) }
        if let slowAt, now >= slowAt {
            self.slowAt = nil
            self.attemptFailed(nil, &outbox)
        }
        if let sampleAt, now >= sampleAt {
            self.sampleAt = nil
            outbox.request("client:ping", about: .nothing)
        }
        if let connectAt, now >= connectAt {
            self.begin(&outbox)
        } else if let probeTime = self.probeTime(outbox), now >= probeTime {
            self.probe(patience: ConnectionWatch.quiet, &outbox)
        }
        return .none
    }

    mutating func backgrounded(_ outbox: ClientOutbox) {
        self.hiddenAt = outbox.now
    }

    mutating func foregrounded(_ outbox: inout ClientOutbox) {
        let wasShort = self.hiddenAt.map { outbox.now - $0 < Self.shortTrip } ?? false
        self.hiddenAt = nil
        if !wasShort { self.surroundingsChanged(&outbox) }
    }

    mutating func networkReturned(_ outbox: inout ClientOutbox) {
        self.hiddenAt = nil
        self.surroundingsChanged(&outbox)
    }

    private mutating func surroundingsChanged(_ outbox: inout ClientOutbox) {
        if self.phase == .up {
            self.probe(patience: ConnectionWatch.probeTimeout, &outbox)
        } else if self.connectAt != nil {
            self.begin(&outbox)
        }
    }

    private mutating func probe(patience: Int64, _ outbox: inout ClientOutbox) {
        guard self.watch.probeBegan(at: outbox.now, patience: patience) else { return }
        outbox.request("client:ping", about: .nothing)
    }

    /// An answer told the server's time: one answer says little about it.
    mutating func sampled(_ outbox: ClientOutbox) {
        self.sampleAt = outbox.serverClock.isSettled ? outbox.now.plus(Self.resample) : outbox.now
    }

    // MARK: The socket

    private mutating func begin(_ outbox: inout ClientOutbox) {
        self.connectAt = nil
        self.pause.attemptBegan()
        guard self.options.hasTokens else { return self.open(&outbox) }
        self.phase = .token
        self.watch.attemptBegan(at: outbox.now)
        outbox.tell(.requestToken(self.tokens.reason))
    }

    private mutating func open(_ outbox: inout ClientOutbox) {
        self.phase = .opening
        self.watch.attemptBegan(at: outbox.now)
        self.slowAt = outbox.now.plus(Self.slow)
        outbox.tell(.openSocket)
    }

    mutating func opened(_ outbox: ClientOutbox) {
        self.watch.opened(at: outbox.now)
        if self.phase == .opening { self.phase = .opened }
    }

    /// Tells why an attempt that the app still wants failed, or takes long.
    /// - Parameter failure: nil: what follows from how far it got.
    private mutating func attemptFailed(_ failure: ConnectionFailure?, _ outbox: inout ClientOutbox) {
        let code: ConnectionFailure.Code
        switch self.phase {
        case .offline, .up, .expired: return
        case .token: code = .token
        case .opened: code = .notTouchSync
        case .opening, .greeted: code = .unreachable
        }
        guard self.isWanted else { return }
        let failure = failure ?? ConnectionFailure(code)
        self.lastFailure = failure
        outbox.tell(.failed(failure))
    }

    /// Gives the connection up, and tries again later if the app wants one.
    /// - Parameter failure: why, if it was an attempt and more is known than how far it got.
    mutating func lost(
        _ failure: ConnectionFailure? = nil, random: Double, _ outbox: inout ClientOutbox
    ) -> Transition {
        if self.hasSocket { outbox.tell(.closeSocket) }
        self.attemptFailed(failure, &outbox)
        if self.phase == .up, outbox.now - self.acceptedAt >= ReconnectPause.lasting { self.pause.reset() }
        outbox.connectionLost()
        self.watch.stop()
        (self.slowAt, self.leaveAt, self.sampleAt) = (nil, nil, nil)
        self.isDraining = false
        self.tokens.isRefreshing = false
        self.phase = .offline
        self.connectAt = self.isWanted ? outbox.now.plus(self.pause.length(random: random)) : nil
        return .lost
    }

    // MARK: Messages

    mutating func heard(_ outbox: ClientOutbox) {
        self.watch.heard(at: outbox.now, isAccepted: self.phase == .up)
    }

    /// The first message of a connection.
    /// - Parameter packet: nil for what is none.
    mutating func answered(_ packet: ServerPacket?, random: Double, _ outbox: inout ClientOutbox) -> Transition {
        guard case .open(let greeting) = packet else {
            return self.lost(ConnectionFailure(.notTouchSync), random: random, &outbox)
        }
        self.greeted(greeting, &outbox)
        return .none
    }

    private mutating func greeted(_ greeting: JSONObject, _ outbox: inout ClientOutbox) {
        self.phase = .greeted
        self.watch.greeted(
            pingInterval: greeting["pingInterval"]?.milliseconds, pingTimeout: greeting["pingTimeout"]?.milliseconds)
        let (handshake, token) = (self.options.handshake, self.tokens.token)
        let text = JSONWriter.text { writer in
            handshake.encodeMembers(into: &writer, except: token == nil ? [] : ["token"])
            writer.member("token", ifPresent: token)
        }
        outbox.write("40" + String(decoding: text, as: UTF8.self))
    }

    mutating func accepted(_ outbox: inout ClientOutbox) -> Transition {
        self.phase = .up
        self.lastFailure = nil
        self.slowAt = nil
        self.acceptedAt = outbox.now
        self.watch.heard(at: outbox.now, isAccepted: true)
        self.tokens.refused = nil
        outbox.connectionAccepted()
        return .accepted
    }

    /// CONNECT was refused: for now, or because of the token.
    mutating func refused(_ refusal: JSONObject, random: Double, _ outbox: inout ClientOutbox) -> Transition {
        let data = JSONObject(refusal["data"])
        outbox.tell(.refused(ClientError(event: "connect", message: refusal["message"], details: data)))
        let detail = refusal["message"]?.string
        if ClientError(data).isRetryable {
            return self.lost(ConnectionFailure(.unreachable, detail: detail), random: random, &outbox)
        }
        return self.tokenRefused(detail, random: random, &outbox)
    }

    /// The server wants this token no longer, or not at all.
    /// - Parameter detail: what it says about that.
    mutating func tokenRefused(
        _ detail: String? = nil, random: Double, _ outbox: inout ClientOutbox
    ) -> Transition {
        let transition = self.lost(ConnectionFailure(.token, detail: detail), random: random, &outbox)
        self.tokens.refusedByServer()
        if !self.options.hasTokens {
            self.expire(&outbox)
        } else if !self.pause.isGrowing {
            self.begin(&outbox)
        }
        // Otherwise what follows is refused as well, it seems: there are pauses.
        return transition
    }

    /// The gateway stops: this app leaves at a moment of its own within the next second.
    mutating func drain(closesIn: Int64, random: Double, _ outbox: ClientOutbox) {
        guard !self.isDraining else { return }
        self.isDraining = true
        self.pause.reset()
        self.leaveAt = outbox.now.plus(Int64((random * Double(min(1000, closesIn))).rounded(.up)))
    }

    /// The server says that the token ends, soon or now.
    mutating func tokenEnds(expiresIn: Int64?, _ outbox: inout ClientOutbox) {
        guard let expiresIn, expiresIn > 0, self.options.hasTokens, !self.tokens.isRefreshing else { return }
        self.tokens.isRefreshing = true
        outbox.tell(.requestToken(.expires))
    }

    private mutating func refresh(_ token: String?, _ outbox: inout ClientOutbox) {
        self.tokens.isRefreshing = false
        guard let token, !self.tokens.isPresent(token) else { return }
        outbox.request("auth:refresh", about: .token(token)) { $0.member("token", token) }
    }

    /// The server's answer to another token; true when it is the present one now.
    mutating func refreshAnswered(_ token: String, _ answer: JSONObject, _ outbox: inout ClientOutbox) -> Bool {
        guard answer["ok"]?.bool == true else {
            let error = JSONObject(answer["error"])
            outbox.tell(.refused(ClientError(event: "auth:refresh", message: nil, details: error)))
            return false
        }
        self.tokens.token = token
        return true
    }
}

/// The app's token, and the one that the server refused.
struct TokenHolder: Sendable {
    var token: String?
    /// The token that the server refused, empty if it was none: it is not presented again.
    var refused: String?
    /// Whether the app was asked for the token that follows the present one.
    var isRefreshing = false

    /// Why the next connection needs a token.
    var reason: TokenReason { self.refused == nil ? .connect : .refused }

    /// Accepts the app's token for the next connection; false when there is none, or only the refused one.
    mutating func accept(_ token: String?) -> Bool {
        guard let token, !Self.isSame(token, self.refused) else { return false }
        self.token = token
        return true
    }

    mutating func refusedByServer() {
        self.refused = self.token ?? ""
    }

    func isPresent(_ token: String) -> Bool { Self.isSame(token, self.token) }

    private static func isSame(_ left: String, _ right: String?) -> Bool {
        right.map { TextKey(left) == TextKey($0) } ?? false
    }
}
