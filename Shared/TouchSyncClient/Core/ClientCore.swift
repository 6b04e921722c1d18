public import Canvas
import JSONBytes

/// Everything that the client decides, as a machine without a socket and without a clock: an input at a time gives
/// outputs, and nothing else happens.
///
/// Times are ms of a clock that does not run backwards. The shell performs all outputs of an input in their order before the
/// next input, and gives `timeReached` when `deadline` is reached. After `closeSocket` nothing of that socket is an input any
/// more. Each edit has an id of the shell's choice, and exactly one `result`.
///
/// `.room("demo", .join(record:))` enters a room, with what was saved of it. The shell joins other rooms of which something
/// was saved, too, and tells them to `.deliver`.
public struct ClientCore: Sendable {
    private let options: ClientOptions
    private var link: ClientLink
    /// In the order in which the app joined them.
    private var rooms: [ClientRoom] = []
    private var lastSerial = 0
    private var outbox = ClientOutbox()
    /// How far the client is.
    public private(set) var state = ClientState.offline

    /// A client that was not told to connect yet.
    public init(options: ClientOptions) {
        self.options = options
        self.link = ClientLink(options: options)
    }

    /// When the next input is due at the latest, ms; nil when only something from outside can change anything.
    public var deadline: Int64? {
        let rooms = self.rooms.compactMap(\.deadline).min()
        return earliest(self.link.deadline(self.outbox), rooms)
    }

    /// Why the last attempt to connect failed; nil once a connection is there.
    public var lastFailure: ConnectionFailure? { self.link.lastFailure }

    /// The token that the server has, for requests by HTTP; nil without one.
    public var token: String? { self.link.tokens.token }

    /// Takes note of what happened.
    /// - Parameters:
    ///   - now: the time, ms.
    ///   - random: a number in 0…1 that is another one for each input and each client.
    /// - Returns: what the shell is to do, in this order.
    public mutating func input(_ input: ClientInput, at now: Int64, random: Double) -> [ClientOutput] {
        self.outbox.begin(at: now)
        self.perform(input, random: random > 0 ? min(random, 1) : 0)
        self.finishRooms()
        self.noteState()
        return self.outbox.drain()
    }

    private mutating func perform(_ input: ClientInput, random: Double) {
        switch input {
        case .connect: self.link.connect(&self.outbox)
        case .disconnect: self.follow(self.link.disconnect(random: random, &self.outbox))
        case .opened: self.link.opened(self.outbox)
        case .closed(let failure):
            if self.link.hasSocket { self.follow(self.link.lost(failure, random: random, &self.outbox)) }
        case .packetReceived(let text): self.received(text, random: random)
        case .timeReached:
            self.follow(self.link.timeReached(random: random, &self.outbox))
            for index in self.rooms.indices { self.rooms[index].timeReached(&self.outbox) }
        case .tokenProvided(let token): self.follow(self.link.tokenProvided(token, random: random, &self.outbox))
        case .tokenFailed: self.follow(self.link.tokenFailed(random: random, &self.outbox))
        case .networkReturned: self.link.networkReturned(&self.outbox)
        case .networkLost:
            let failure = ConnectionFailure(.unreachable, detail: "The device has no network.")
            if self.link.hasSocket { self.follow(self.link.lost(failure, random: random, &self.outbox)) }
        case .foregrounded: self.link.foregrounded(&self.outbox)
        case .backgrounded: self.link.backgrounded(self.outbox)
        case .room(let id, .join(let record)): self.join(TextKey(id), record)
        case .room(let id, let input): self.perform(input, in: TextKey(id))
        }
    }

    /// What the connection did, rooms do, too.
    private mutating func follow(_ transition: ClientLink.Transition) {
        switch transition {
        case .none: break
        case .lost: for index in self.rooms.indices { self.rooms[index].connectionLost() }
        case .accepted: for index in self.rooms.indices { self.rooms[index].join(&self.outbox) }
        }
    }

    private mutating func finishRooms() {
        for index in self.rooms.indices { self.rooms[index].finish(&self.outbox) }
        guard self.rooms.contains(where: \.canLeave) else { return }
        for room in self.rooms where room.canLeave {
            room.address.ask("room:leave", about: .nothing, &self.outbox) { _ in }
            room.tell(.left, &self.outbox)
        }
        self.rooms.removeAll(where: \.canLeave)
    }

    private mutating func noteState() {
        let state = self.presentState
        if state == self.state { return }
        self.state = state
        self.outbox.tell(.stateChanged(state))
    }

    private var presentState: ClientState {
        switch self.link.phase {
        case .offline: .offline
        case .expired: .expired
        case .token, .opening, .opened, .greeted: .connecting
        case .up where self.link.isDraining: .draining
        case .up: self.rooms.allSatisfy(\.isSettled) ? .live : .joining
        }
    }

    // MARK: Rooms

    private func index(of id: TextKey) -> Int? { self.rooms.firstIndex { $0.address.id == id } }

    private func index(ofSerial serial: Int) -> Int? { self.rooms.firstIndex { $0.address.serial == serial } }

    private mutating func join(_ id: TextKey, _ record: RoomRecord?) {
        if let index = self.index(of: id) { return self.rooms[index].joinedAgain(&self.outbox) }
        self.lastSerial += 1
        let limit = self.options.queueLimit
        self.rooms.append(
            ClientRoom(
                id: id, serial: self.lastSerial, queueLimit: limit, record: record, hasMotion: self.options.motion))
        self.rooms[self.rooms.count - 1].join(&self.outbox)
    }

    private mutating func perform(_ input: RoomInput, in id: TextKey) {
        if let index = self.index(of: id) {
            self.rooms[index].perform(input, &self.outbox)
        } else if let edit = input.editID {
            self.outbox.tell(.room(id.text, .result(id: edit, EditAnswer(refusal: .left))))
        }
    }

    // MARK: Messages

    private mutating func received(_ text: String, random: Double) {
        guard self.link.hasSocket else { return }
        self.link.heard(self.outbox)
        let packet = ServerPacket(text: text)
        guard self.link.isGreeted else { return self.follow(self.link.answered(packet, random: random, &self.outbox)) }
        switch packet {
        case .open, nil: break
        case .close: self.follow(self.link.lost(random: random, &self.outbox))
        case .ping: self.outbox.write("3")
        case .connected(let name):
            self.follow(
                name == nil
                    ? self.link.lost(ConnectionFailure(.version), random: random, &self.outbox)
                    : self.link.accepted(&self.outbox))
        case .disconnected: self.follow(self.link.tokenRefused(random: random, &self.outbox))
        case .refused(let refusal): self.follow(self.link.refused(refusal, random: random, &self.outbox))
        case .event(let event, let data): self.eventReceived(event, data, random: random)
        case .answer(let number, let answer): self.answered(number, answer)
        }
    }

    private mutating func eventReceived(_ event: String, _ data: JSONObject, random: Double) {
        switch event {
        case "auth:error": self.link.tokenEnds(expiresIn: data["expiresInMs"]?.milliseconds, &self.outbox)
        case "server:draining":
            self.link.drain(closesIn: data["closesInMs"]?.milliseconds ?? 0, random: random, self.outbox)
        case "previews:batch":
            for message in data["events"].map({ Array($0.elements) }) ?? [] {
                var parts = message.elements
                guard let event = parts.next()?.string else { continue }
                self.eventReceived(event, JSONObject(parts.next()), random: random)
            }
        case "transform:error": self.outbox.tell(.refused(ClientError(data)))
        default: break
        }
        guard let id = data["roomId"]?.string, let index = self.index(of: TextKey(id)) else { return }
        self.rooms[index].eventReceived(event, data, &self.outbox)
    }

    private mutating func answered(_ number: Int, _ answer: JSONObject) {
        let time = answer["time"]?.double
        let subject = self.outbox.answered(number, time: time)
        if subject != nil, time != nil { self.link.sampled(self.outbox) }
        switch subject {
        case .join(let room):
            if let index = self.index(ofSerial: room) { self.rooms[index].joinAnswered(answer, &self.outbox) }
        case .edit(let room, let key, let attempt, let session):
            guard let index = self.index(ofSerial: room) else { return }
            self.rooms[index].editAnswered(key, attempt: attempt, session: session, answer, &self.outbox)
        case .awareness(let room, let isViewport):
            guard let index = self.index(ofSerial: room), let error = EditAnswer(answer).error else { return }
            self.rooms[index].awareness.refused(error, isViewport: isViewport, &self.outbox)
        case .token(let token):
            guard self.link.refreshAnswered(token, answer, &self.outbox) else { return }
            // What was forbidden may be allowed now, and the reverse: the server leaves such a room without a word.
            for index in self.rooms.indices where self.rooms[index].isAnswered {
                self.rooms[index].join(&self.outbox)
            }
        case .nothing, nil: break
        }
    }
}

extension ClientCore {
    /// An element as it is stored, with this user's edits and gestures on top; nil if there is none.
    public func element(_ id: String, in room: String) -> Element? { self.room(room)?.contents.shown[TextKey(id)] }

    /// All elements as they lie on each other, the lowest first: by `Element.isBelow`, so the same for everybody. They
    /// are sorted, unless none came, went or changed its `zIndex` since a `drawing` of all.
    public func elements(in room: String) -> [Element] { self.room(room)?.contents.shown.stacked ?? [] }

    /// Keeps the order of a room's elements for `elements`, until one comes, goes, or changes its `zIndex`.
    package mutating func keepOrder(in room: String) {
        guard let index = self.index(of: TextKey(room)) else { return }
        _ = self.rooms[index].contents.shown.keepOrder()
    }

    /// An element where this user holds it, it moves by itself, or others move it, at the time of a frame, ms.
    public mutating func drawn(_ id: String, in room: String, at time: Double) -> Element? {
        let frame = Frame(time: time, serverTime: self.outbox.serverClock.time(at: time))
        return self.index(of: TextKey(room)).flatMap { self.rooms[$0].drawn(TextKey(id), in: frame) }
    }

    /// Where an element's motion and animation have it at a time, ms, also to come, without what others do to it; nil if
    /// there is none.
    public func pose(of id: String, in room: String, at time: Double) -> Pose? {
        guard let room = self.room(room), let element = room.contents.shown[TextKey(id)] else { return nil }
        return room.motion.pose(of: element, at: self.outbox.serverClock.time(at: time))
    }

    /// The server's clock at a time, ms since 1970; nil before it is known.
    package func serverTime(at time: Double) -> Double? { self.outbox.serverClock.time(at: time) }

    /// Some elements in the order of these ids, or all of them, the lowest first, where they are to be drawn at the
    /// time of a frame, ms.
    public mutating func drawing(of ids: [String]?, in room: String, at time: Double) -> RoomDrawing {
        guard let index = self.index(of: TextKey(room)) else { return RoomDrawing() }
        let frame = Frame(time: time, serverTime: self.outbox.serverClock.time(at: time))
        return self.rooms[index].drawing(of: ids?.map(TextKey.init), in: frame)
    }

    /// Whether an element moves by itself, or somebody else's movement of it may be under way, as of the last `drawn`.
    public func isMoving(_ id: String, in room: String) -> Bool {
        self.index(of: TextKey(room)).map { self.rooms[$0].motion.isMoving(TextKey(id)) } ?? false
    }

    /// Who is there, with cursors and selections.
    public func members(in room: String) -> [RoomMember] { self.room(room)?.people.members ?? [] }

    /// Who this user is, in any room; nil before the first join.
    package var ownMembership: OwnMembership? { self.rooms.lazy.compactMap(\.people.own).first }

    /// Who this user is there, as of the last join; nil before the first.
    public func ownMembership(in room: String) -> OwnMembership? { self.room(room)?.people.own }

    /// Whether this user has something to undo and to redo, as far as it is known here.
    public func canUndo(in room: String) -> Bool { self.room(room)?.edits.reach.canUndo ?? false }
    public func canRedo(in room: String) -> Bool { self.room(room)?.edits.reach.canRedo ?? false }

    /// The number of the last change that was applied here; 0 before the first.
    public func seq(of room: String) -> Int64 { self.room(room)?.contents.seq ?? 0 }

    /// The number of edits without a result.
    public func pendingEdits(in room: String) -> Int { self.room(room)?.edits.openCount ?? 0 }

    /// Whether the app, or what an earlier run of it left, is in a room. Of another one nothing is known.
    package func isIn(_ room: String) -> Bool { self.index(of: TextKey(room)) != nil }

    private func room(_ id: String) -> ClientRoom? { self.index(of: TextKey(id)).map { self.rooms[$0] } }
}
