import SocketIO

/// The protocol of one connection of a load, in both directions, without socket or clock.
///
///     idle ─► dialling ─► upgrading ─► opening ─► connecting ─► joining ─► creating ─► live ─► idle (and again)
///
/// Times are nanoseconds since the run's origin.
struct Client: Sendable {
    /// The progress of the connection, as what is awaited of the server.
    enum Phase: String, Sendable {
        case idle = "a time to dial"
        case dialling = "a connection"
        case upgrading = "an answer to the WebSocket upgrade"
        case opening = "the open packet of Engine.IO"
        case connecting = "an answer to the connect packet of Socket.IO"
        case joining = "the acknowledgement of room:join"
        case creating = "the acknowledgement of element:create, which --plain does without"
        case live = ""
    }

    /// What a client can be asked to send, and what it then did.
    enum Message: Int, CaseIterable, Sendable { case preview, commit, group }
    enum Outcome: Sendable { case preview, commit, held, impossible }

    /// Unique among all connections, from 0; members before idle ones.
    let index: Int
    /// Its number among the members of its room; nil: it is idle.
    let member: Int?
    let isSlow: Bool
    private(set) var phase = Phase.idle

    private let load: Load
    private let target: Target
    /// The number of its room.
    private let place: Int
    private let room: String
    private let isSender: Bool
    private var frames = ServerFrames()
    private var head: [UInt8] = []
    /// Nil for those that send nothing, which have no element of their own.
    private var preview: MovingMessage?
    private var commit: MovingMessage?
    /// Previews and commits of gestures so far.
    private var gestureSteps = 0
    private var lane: CommitLane
    /// The acknowledgements that groups wait for.
    private var groupIDs: Set<Int> = []
    /// Further elements of the room that it has created or requested.
    private var created = 0

    init(_ index: Int, _ load: Load, _ target: Target) {
        self.index = index
        self.load = load
        self.target = target
        // All rooms get their first member, then all their second, and so on: the ramp fills rooms evenly.
        let (member, place) = index.quotientAndRemainder(dividingBy: max(1, load.rooms))
        let isMember = index < load.rooms * load.members
        self.member = isMember ? member : nil
        self.place = place
        self.room = "bench-\(target.run)-\(place)"
        self.isSlow = isMember && member >= load.members - load.slowPerRoom
        self.isSender = isMember && member < load.previewersPerRoom
        self.lane = CommitLane(window: load.commitWindow)
        guard isMember, member < max(load.previewersPerRoom, load.committersPerRoom) else { return }
        let column = (load.viewShare ?? 1) < 1 ? member % SendTime.columns : 0
        self.preview = MovingMessage(room: self.room, element: "e\(index)", isCommit: false, column: column)
        self.commit = MovingMessage(room: self.room, element: "e\(index)", isCommit: true, column: column)
    }

    var address: ServerAddress { self.target.addresses[self.index % self.target.addresses.count] }
    var outstandingCommits: Int { self.lane.outstandingCount }
    var readsSlowly: Bool { self.isSlow && self.phase == .live }

    /// Its number among the first `count` members of all rooms, those of one room consecutive; nil: it is none of them.
    func number(amongFirst count: Int) -> Int? {
        self.member.flatMap { $0 < count ? self.place * count + $0 : nil }
    }

    /// The columns of senders that it has in its viewport, spread over all members; nil without a viewport.
    var view: Range<Int>? {
        guard let member, let share = self.load.viewShare, share < 1, !self.isSender else { return nil }
        let columns = min(self.load.previewersPerRoom, SendTime.columns)
        let count = max(1, Int((Double(columns) * share).rounded()))
        let start = member * count % max(1, columns - count + 1)
        return start..<start + count
    }

    mutating func dial() { (self.phase, self.head, self.frames) = (.dialling, [], ServerFrames()) }

    /// The TCP connection is established: requests a WebSocket.
    mutating func opened(into output: inout [UInt8]) {
        self.phase = .upgrading
        output += self.address.upgradeRequest.utf8
    }

    mutating func ended() { self.phase = .idle }

    /// Sends what is due, with the time in it.
    mutating func send(_ message: Message, at now: Int64, into output: inout [UInt8]) -> Outcome {
        let isUnderstood = message != .group || !self.target.isPlain
        guard self.phase == .live, self.preview != nil, isUnderstood else { return .impossible }
        // Previews and commits of gestures take turns.
        let isCommit =
            message != .preview || self.gestureSteps % (self.load.gesturePreviews + 1) == self.load.gesturePreviews
        if message == .preview, !self.isGesturing {
            self.preview?.stamp(now / 1000)
            self.say(self.preview?.text ?? [], into: &output)
            return .preview
        }
        guard isCommit else {
            self.sendGesture(at: now, commit: nil, &output)
            return .preview
        }
        guard let commit = self.lane.submit(at: now) else { return .held }
        switch message {
        case .preview:
            self.sendGesture(at: now, commit: commit, &output)
        case .commit:
            self.commit?.stamp(now / 1000, id: commit.id, number: self.target.isPlain ? nil : commit.number)
            self.say(self.commit?.text ?? [], into: &output)
        case .group:
            self.groupIDs.insert(commit.id)
            let count = self.load.elements
            self.say(Request.turn(self.room, further: count, id: commit.id, number: commit.number), into: &output)
        }
        return .commit
    }

    /// Moves its element with gestures, and the first member of each room a group.
    private var isGesturing: Bool { self.load.gesturePreviews > 0 && !self.target.isPlain }

    private mutating func sendGesture(at now: Int64, commit: (id: Int, number: UInt64)?, _ output: inout [UInt8]) {
        let others = (0..<(self.member == 0 ? self.load.elements : 0)).map { "x\($0)" }
        if let commit, !others.isEmpty { self.groupIDs.insert(commit.id) }
        let gesture = Request.gesture(
            self.room, ["e\(self.index)"] + others, at: now / 1000, step: self.gestureSteps,
            length: self.load.gesturePreviews, commit: commit)
        self.gestureSteps += 1
        self.say(gesture, into: &output)
    }

    private func say(_ text: [UInt8], as opcode: WebSocketOpcode = .text, into output: inout [UInt8]) {
        text.withUnsafeBytes { ClientFrame.append(opcode, $0, to: &output) }
    }

    private static let headEnd = Needle("\r\n\r\n")

    /// - Parameters:
    ///   - tally: counts the received events.
    ///   - output: gets the response.
    /// - Returns: why the connection must be closed; nil while it is usable.
    mutating func received(
        _ bytes: UnsafeRawBufferPointer, at now: Int64, tally: inout Tally, output: inout [UInt8]
    ) -> String? {
        if self.phase == .upgrading { return self.upgrade(bytes, at: now, &tally, &output) }
        // Moved out, because handling a message mutates the rest of this value.
        var frames = ServerFrames()
        swap(&frames, &self.frames)
        defer { swap(&frames, &self.frames) }
        var failure: String?
        let isWebSocket = frames.feed(bytes) { opcode, payload in
            switch opcode {
            case .text: failure = self.received(Packet(payload), payload, at: now, &tally, &output) ?? failure
            case .ping: self.say(Array(payload), as: .pong, into: &output)
            case .close: failure = "the server closed with \(payload.prefix(2).reduce(0) { $0 << 8 | Int($1) })"
            case .binary, .continuation, .pong: break
            }
        }
        return isWebSocket ? failure : "the server sent what is no WebSocket frame"
    }

    private mutating func upgrade(
        _ bytes: UnsafeRawBufferPointer, at now: Int64, _ tally: inout Tally, _ output: inout [UInt8]
    ) -> String? {
        self.head += bytes
        guard let end = self.head.withUnsafeBytes({ Self.headEnd.end(in: $0) }) else {
            return self.head.count < 16_384 ? nil : "the server answered the upgrade with an endless head"
        }
        let status = String(decoding: self.head.prefix { $0 != 0x0D }, as: UTF8.self)
        guard status.hasPrefix("HTTP/1.1 101") else { return "the server answered the upgrade with \(status)" }
        self.phase = .opening
        return Array(self.head[end...]).withUnsafeBytes { self.received($0, at: now, tally: &tally, output: &output) }
    }

    private mutating func received(
        _ packet: Packet, _ text: UnsafeRawBufferPointer, at now: Int64, _ tally: inout Tally, _ output: inout [UInt8]
    ) -> String? {
        switch packet {
        case .preview where self.isSlow, .commit where self.isSlow:
            tally.slowDelivered += 1
        case .preview(let sentAt, let folded):
            tally.previewsDelivered += 1
            tally.previewsFolded += folded - 1
            if let sentAt { tally.previewAge.record(now - sentAt * 1000) }
        case .commit(let sentAt):
            tally.commitsDelivered += 1
            if let sentAt { tally.screen.record(now - sentAt * 1000) }
        case .batch:
            for event in Packet.events(ofBatch: text) { _ = self.received(event, text, at: now, &tally, &output) }
        case .acknowledgement(let id, let body):
            let answer = Answer(UnsafeRawBufferPointer(rebasing: text[body...]))
            return self.acknowledged(id, answer, at: now, &tally, &output)
        case .ping:
            self.say([UInt8(ascii: "3")], into: &output)
        case .open:
            self.phase = .connecting
            self.say(Request.connect(self.index, self.target), into: &output)
        case .connected:
            self.phase = self.member == nil ? .live : .joining
            let wantsPreviews = self.load.viewShare == nil || !self.isSender
            if self.member != nil { self.say(Request.join(self.room, wantsPreviews: wantsPreviews), into: &output) }
        case .ended:
            return "the server refused or ended the connection: \(String(decoding: text, as: UTF8.self))"
        case .other:
            break
        }
        return nil
    }

    private mutating func acknowledged(
        _ id: Int, _ answer: Answer, at now: Int64, _ tally: inout Tally, _ output: inout [UInt8]
    ) -> String? {
        switch (id, self.phase) {
        case (Request.joinID, .joining):
            guard answer == .applied else { return "joining was refused: \(answer)" }
            self.lane.restart()
            if let view = self.view { self.say(Request.viewport(self.room, columns: view), into: &output) }
            self.create(&output)
        case (Request.createID, .creating):
            // A conflict: they exist since an earlier connection.
            guard answer == .applied || answer == .refused(code: "conflict") else {
                return "creating elements was refused: \(answer)"
            }
            self.create(&output)
        default:
            guard let latency = self.lane.answered(id, answer, at: now) else { return nil }
            tally.answered(answer, after: latency, isGroup: self.groupIDs.remove(id) != nil)
        }
        return nil
    }

    /// Creates its own element, then, as the first member, those of the room; then goes live.
    private mutating func create(_ output: inout [UInt8]) {
        let isNew = self.phase == .joining
        self.phase = .creating
        if isNew, self.commit != nil, !self.target.isPlain {
            self.created = 0
            let content = self.load.elementBytes
            self.say(Request.create(self.room, element: "e\(self.index)", content: content), into: &output)
        } else if self.member == 0, self.created < self.load.elements, !self.target.isPlain {
            let further = self.created..<min(self.load.elements, self.created + Request.batch)
            self.created = further.upperBound
            self.say(Request.create(self.room, further: further), into: &output)
        } else {
            self.phase = .live
        }
    }
}
