import SocketIO

/// The protocol of one connection of a load, in both directions, without socket or clock.
///
///     idle ─► dialling ─► upgrading ─► opening ─► connecting ─► joining ─► creating ─► live ─► idle (and again)
///
/// Times are nanoseconds since the run's origin.
package struct BenchClient: Sendable {
    /// The progress of the connection.
    package enum Phase: Equatable, Sendable {
        case idle, dialling, upgrading, opening, connecting, joining
        /// Elements are being created; the number of further ones created or requested so far.
        case creating(Int)
        case live

        /// The server's outstanding response, for people; nil when there is none.
        package var awaited: String? {
            switch self {
            case .idle, .live: nil
            case .dialling: "a connection"
            case .upgrading: "an answer to the WebSocket upgrade"
            case .opening: "the open packet of Engine.IO"
            case .connecting: "an answer to the connect packet of Socket.IO"
            case .joining: "the acknowledgement of room:join"
            case .creating: "the acknowledgement of element:create, which --plain does without"
            }
        }
    }

    package let plan: ClientPlan
    package private(set) var phase = Phase.idle
    /// When it started to dial.
    package private(set) var since: Int64 = 0
    /// When a storm cut it off; nil otherwise.
    package var cutAt: Int64?

    private let target: Target
    private let room: String
    private let element: String
    /// The content size of its own element, bytes, and the number of further elements it creates.
    private let elementBytes: Int
    private let furtherElements: Int
    private let wantsPreviews: Bool
    /// The columns in its viewport; nil: it sees everything.
    private let view: Range<Int>?
    private var frames = ServerFrames()
    private var head: [UInt8] = []
    private var preview: MovingMessage?
    private var commit: MovingMessage?
    private var group: GroupMessage?
    /// Moves its element with gestures; nil: with values.
    private var hand: GestureHand?
    /// The acknowledgements that groups wait for.
    private var groupIDs: Set<Int> = []
    private var lane: CommitLane
    private var masks: MaskGenerator

    package init(_ plan: ClientPlan, _ load: Load, _ target: Target) {
        self.plan = plan
        self.target = target
        self.room = target.room(plan.room ?? 0)
        self.element = "e\(plan.index)"
        self.elementBytes = load.elementBytes
        self.furtherElements = plan.isFirst && !target.isPlain ? load.furtherElements : 0
        let isSender = plan.member.map { $0 < load.previewersPerRoom } ?? false
        self.wantsPreviews = !(isSender && load.areSendersBlind)
        self.view = isSender ? nil : plan.view(load)
        self.lane = CommitLane(window: load.commitWindow > 0 ? load.commitWindow : 16)
        self.masks = MaskGenerator(seed: UInt64(plan.index + 1) &* 0x9E37_79B9_7F4A_7C15)
        if load.groupRate > 0, plan.isFirst, !target.isPlain {
            self.group = GroupMessage(room: self.room, elements: load.groupElements)
        }
        guard plan.isMover else { return }
        if load.gesturePreviews > 0, isSender, !target.isPlain {
            let others = (plan.member ?? 0) < load.gestureGroups ? 0..<load.groupElements : 0..<0
            self.hand = GestureHand(
                room: self.room, element: self.element, others: others.map(Greeting.furtherElement),
                length: load.gesturePreviews)
        }
        let column = load.viewShare < 1 ? (plan.member ?? 0) % SendTime.columns : 0
        self.preview = MovingMessage(room: self.room, element: self.element, isCommit: false, column: column)
        self.commit = MovingMessage(room: self.room, element: self.element, isCommit: true, column: column)
    }

    /// Commits without an answer.
    package var outstandingCommits: Int { self.lane.outstandingCount }
    /// True when it is live and limited in its reading rate.
    package var readsSlowly: Bool { self.plan.isSlow && self.phase == .live }

    // MARK: The connection

    /// Starts to connect.
    package mutating func dial(at now: Int64) {
        self.phase = .dialling
        self.since = now
        self.head = []
        self.frames = ServerFrames()
        self.hand?.disconnected()
    }

    /// The TCP connection is established: requests a WebSocket.
    package mutating func opened(into output: inout [UInt8]) {
        self.phase = .upgrading
        output += self.target.address(of: self.plan.index).upgradeRequest.utf8
    }

    /// The connection has ended.
    package mutating func ended() { self.phase = .idle }

    // MARK: Sending

    /// Sends a preview that carries the time.
    /// - Returns: true if it was sent; previews are sent only while live.
    package mutating func movePreview(at now: Int64, into output: inout [UInt8]) -> Bool {
        guard self.phase == .live, self.preview != nil else { return false }
        let mask = self.nextMask()
        self.preview?.preview(at: now / 1000) { ClientFrame.append(.text, $0, mask: mask, to: &output) }
        return true
    }

    /// The outcome of a commit that was due.
    package enum Submission: Sendable { case said, held, impossible }

    /// Sends a commit that carries the time, unless the window is full.
    package mutating func moveForGood(at now: Int64, into output: inout [UInt8]) -> Submission {
        guard self.phase == .live, self.commit != nil else { return .impossible }
        guard let (id, number) = self.lane.submit(at: now) else { return .held }
        let mask = self.nextMask()
        self.commit?.commit(at: now / 1000, id: id, number: self.target.isPlain ? nil : number) {
            ClientFrame.append(.text, $0, mask: mask, to: &output)
        }
        return .said
    }

    /// Sends the commit of a group, unless the window is full.
    package mutating func moveGroup(at now: Int64, into output: inout [UInt8]) -> Submission {
        guard self.phase == .live, let group = self.group else { return .impossible }
        guard let (id, number) = self.lane.submit(at: now) else { return .held }
        self.groupIDs.insert(id)
        self.say(group.commit(id: id, number: number), into: &output)
        return .said
    }

    /// True when it moves its element with gestures.
    var isGesturing: Bool { self.hand != nil }

    /// Sends what is due of its gesture, which carries the time.
    /// - Returns: what it sent; nil if it cannot send now.
    package mutating func moveFingers(at now: Int64, into output: inout [UInt8]) -> GestureHand.Step? {
        guard self.phase == .live, let step = self.hand?.next else { return nil }
        switch step {
        case .rest:
            break
        case .preview:
            if let text = self.hand?.preview(at: now / 1000) { self.say(text, into: &output) }
        case .placement:
            guard self.moveForGood(at: now, into: &output) == .said else { return .rest }
            self.hand?.placing(at: now / 1000)
        case .commit:
            guard let (id, number) = self.lane.submit(at: now) else { return .rest }
            if self.hand?.isGroup == true { self.groupIDs.insert(id) }
            if let text = self.hand?.commit(at: now / 1000, id: id, number: number) { self.say(text, into: &output) }
        }
        return step
    }

    private mutating func nextMask() -> UInt32 { UInt32(truncatingIfNeeded: self.masks.next() >> 16) }

    private mutating func say(_ text: [UInt8], as opcode: WebSocketOpcode = .text, into output: inout [UInt8]) {
        let mask = self.nextMask()
        text.withUnsafeBytes { ClientFrame.append(opcode, $0, mask: mask, to: &output) }
    }

    // MARK: Receiving

    /// Handles received bytes.
    /// - Parameters:
    ///   - tally: counts the received events.
    ///   - output: receives the response.
    /// - Returns: why the connection must be closed; nil while it is usable.
    package mutating func received(
        _ bytes: UnsafeRawBufferPointer, at now: Int64, tally: inout Tally, output: inout [UInt8]
    ) -> String? {
        if self.phase == .upgrading { return self.upgrade(bytes, at: now, &tally, &output) }
        // Moved out, because handling a message mutates the rest of this value.
        var frames = ServerFrames()
        swap(&frames, &self.frames)
        defer { swap(&frames, &self.frames) }
        var failure: String?
        do throws(ServerFrames.Violation) {
            try frames.feed(bytes) { opcode, payload in
                if let problem = self.received(opcode, payload, at: now, &tally, &output) { failure = problem }
            }
            return failure
        } catch {
            return "the server sent what is no WebSocket frame"
        }
    }

    private mutating func upgrade(
        _ bytes: UnsafeRawBufferPointer, at now: Int64, _ tally: inout Tally, _ output: inout [UInt8]
    ) -> String? {
        self.head += bytes
        guard let end = self.head.withUnsafeBytes({ Greeting.headEnd($0) }) else {
            return self.head.count < 16_384 ? nil : "the server answered the upgrade with an endless head"
        }
        let status = String(decoding: self.head.prefix { $0 != 0x0D }, as: UTF8.self)
        guard status.hasPrefix("HTTP/1.1 101") else { return "the server answered the upgrade with \(status)" }
        self.phase = .opening
        let rest = self.head[end...]
        self.head = []
        return rest.withUnsafeBytes { self.received($0, at: now, tally: &tally, output: &output) }
    }

    private mutating func received(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, at now: Int64, _ tally: inout Tally,
        _ output: inout [UInt8]
    ) -> String? {
        switch opcode {
        case .text:
            return self.received(PacketScanner.scan(payload), payload, at: now, &tally, &output)
        case .ping:
            self.say(Array(payload), as: .pong, into: &output)
        case .close:
            let code = payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
            return "the server closed with \(code)"
        case .binary, .continuation, .pong:
            break
        }
        return nil
    }

    private mutating func received(
        _ packet: PacketScanner.Packet, _ text: UnsafeRawBufferPointer, at now: Int64, _ tally: inout Tally,
        _ output: inout [UInt8]
    ) -> String? {
        switch packet {
        case .preview(let sentAt, let folded):
            tally.previewArrived(age: sentAt.map { now / 1000 - $0 }, folded: folded, isSlow: self.plan.isSlow)
        case .commit(let sentAt):
            tally.commitArrived(age: sentAt.map { now / 1000 - $0 }, isSlow: self.plan.isSlow)
        case .acknowledgement(let id, let body):
            let answer = Answer(UnsafeRawBufferPointer(rebasing: text[body...]))
            return self.acknowledged(id, answer, at: now, &tally, &output)
        case .ping:
            self.say([UInt8(ascii: "3")], into: &output)
        case .open:
            self.phase = .connecting
            self.say(Greeting.connect(self.plan, self.target), into: &output)
        case .connected:
            self.connected(&output)
        case .refused, .disconnected, .close:
            return "the server refused or ended the connection: \(String(decoding: text, as: UTF8.self))"
        case .batch:
            for event in PacketScanner.events(ofBatch: text) {
                if let failure = self.received(event, text, at: now, &tally, &output) { return failure }
            }
        case .event, .unknown:
            tally.otherEvents += 1
        }
        return nil
    }

    // MARK: Greeting

    private mutating func connected(_ output: inout [UInt8]) {
        guard self.plan.room != nil else {
            self.phase = .live
            return
        }
        self.phase = .joining
        self.say(Greeting.join(self.room, wantsPreviews: self.wantsPreviews), into: &output)
    }

    private mutating func acknowledged(
        _ id: Int, _ answer: Answer, at now: Int64, _ tally: inout Tally, _ output: inout [UInt8]
    ) -> String? {
        switch (id, self.phase) {
        case (Greeting.joinID, .joining):
            guard answer == .applied else { return "joining was refused: \(answer)" }
            self.lane.joined(used: 0)
            if let view = self.view { self.say(Greeting.viewport(self.room, columns: view), into: &output) }
            self.create(after: 0, &output)
        case (Greeting.createID, .creating(let made)):
            // A conflict: they exist since an earlier connection.
            guard answer == .applied || answer == .refused(.conflict) else {
                return "creating elements was refused: \(answer)"
            }
            self.create(after: made, &output)
        default:
            guard let latency = self.lane.answered(id, answer, at: now) else { return nil }
            let isGroup = self.groupIDs.remove(id) != nil
            self.hand?.answered(answer)
            tally.commitAnswered(answer, latency: latency / 1000, isGroup: isGroup)
        }
        return nil
    }

    /// Creates its own element, then those of the room; then goes live.
    private mutating func create(after made: Int, _ output: inout [UInt8]) {
        if self.phase == .joining, self.plan.isMover, !self.target.isPlain {
            self.phase = .creating(0)
            let greeting = Greeting.create(room: self.room, element: self.element, content: self.elementBytes)
            return self.say(greeting, into: &output)
        }
        guard made < self.furtherElements else {
            self.phase = .live
            return
        }
        self.phase = .creating(min(self.furtherElements, made + Greeting.batch))
        self.say(Greeting.createMore(room: self.room, first: made, upTo: self.furtherElements), into: &output)
    }
}
