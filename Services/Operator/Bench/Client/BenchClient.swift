import NIOCore
import SocketIO

/// One connection of a load: greets, joins, sends when its loop says so, counts what arrives.
///
///     idle ─► upgrading ─► opening ─► connecting ─► joining ─► creating ─► live ─► idle (and again)
///
/// Lives on its loop's event loop only.
final class BenchClient: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase: Equatable {
        case idle, upgrading, opening, connecting, joining
        /// Elements are made; so many further ones are there or on their way.
        case creating(Int)
        case live
    }

    let plan: ClientPlan
    private(set) var phase = Phase.idle
    /// When the greeting began.
    private(set) var since: Int64 = 0
    /// When a storm cut it off.
    var cutAt: Int64?

    private unowned let loop: LoadLoop
    private var context: ChannelHandlerContext?
    private var frames = ServerFrames()
    private var head: [UInt8] = []
    private var output = ByteBuffer()
    private var preview: MovingMessage?
    private var commit: MovingMessage?
    private var lane: CommitLane

    init(_ plan: ClientPlan, loop: LoadLoop) {
        self.plan = plan
        self.loop = loop
        self.lane = CommitLane(window: loop.load.commitWindow > 0 ? loop.load.commitWindow : 16)
        guard let room = plan.room else { return }
        let name = loop.target.room(room)
        if plan.sender != nil { self.preview = MovingMessage(room: name, element: self.element, isCommit: false) }
        if plan.committer != nil { self.commit = MovingMessage(room: name, element: self.element, isCommit: true) }
    }

    private var element: String { "e\(self.plan.index)" }
    private var room: String { self.loop.target.room(self.plan.room ?? 0) }
    /// Commits without an answer.
    var outstandingCommits: Int { self.lane.outstandingCount }

    // MARK: Sending

    /// Sends a preview that carries the time.
    func sendPreview(at now: Int64) {
        guard self.phase == .live, let context, context.channel.isWritable, self.preview != nil else {
            self.loop.tally.missedSends += 1
            return
        }
        self.loop.tally.previewsSent += 1
        self.preview?.preview(at: now / 1000) { self.append(.text, $0) }
        self.flush(context)
    }

    /// Sends a commit that carries the time, unless its window is full.
    func sendCommit(at now: Int64) {
        guard self.phase == .live, let context, context.channel.isWritable, self.commit != nil else {
            self.loop.tally.missedSends += 1
            return
        }
        guard let (id, number) = self.lane.submit(at: now) else {
            self.loop.tally.heldCommits += 1
            return
        }
        self.loop.tally.commitsSent += 1
        let isNumbered = !self.loop.target.isPlain
        self.commit?.commit(at: now / 1000, id: id, number: isNumbered ? number : nil) { self.append(.text, $0) }
        self.flush(context)
    }

    private func append(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer) {
        ClientFrame.append(opcode, payload, mask: self.loop.nextMask(), to: &self.output)
    }

    private func send(_ text: [UInt8]) {
        guard let context else { return }
        text.withUnsafeBytes { self.append(.text, $0) }
        self.flush(context)
    }

    private func flush(_ context: ChannelHandlerContext) {
        self.loop.tally.bytesOut += self.output.readableBytes
        context.writeAndFlush(self.wrapOutboundOut(self.output), promise: nil)
        self.output.clear()
    }

    /// Lets a slow reader read once.
    func readSlowly() {
        guard self.phase == .live else { return }
        self.context?.read()
    }

    /// Closes the connection without a word.
    func close() {
        self.context?.close(promise: nil)
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        // By then it may be in the pipeline of the next connection.
        if self.context === context { self.context = nil }
    }

    func channelActive(context: ChannelHandlerContext) {
        self.phase = .upgrading
        self.since = self.loop.now
        self.head.removeAll()
        self.frames = ServerFrames()
        self.output.writeString(self.loop.target.address(of: self.plan.index).upgradeRequest)
        self.flush(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.loop.tally.bytesIn += buffer.readableBytes
        let now = self.loop.now
        let isSound = buffer.withUnsafeReadableBytes { bytes in
            self.phase == .upgrading ? self.upgrade(bytes, at: now) : self.split(bytes, at: now)
        }
        if !isSound { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let wasLive = self.phase == .live
        self.phase = .idle
        self.loop.ended(self, wasLive: wasLive)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.loop.failed("\(error)")
        context.close(promise: nil)
    }

    private func upgrade(_ bytes: UnsafeRawBufferPointer, at now: Int64) -> Bool {
        self.head += bytes
        guard let end = self.head.withUnsafeBytes({ Greeting.headEnd($0) }) else { return self.head.count < 16_384 }
        let status = String(decoding: self.head.prefix { $0 != 0x0D }, as: UTF8.self)
        guard status.hasPrefix("HTTP/1.1 101") else {
            self.loop.failed("the server answered the upgrade with \(status)")
            return false
        }
        self.phase = .opening
        let rest = self.head[end...]
        self.head = []
        return rest.isEmpty || rest.withUnsafeBytes { self.split($0, at: now) }
    }

    private func split(_ bytes: UnsafeRawBufferPointer, at now: Int64) -> Bool {
        do throws(ServerFrames.Violation) {
            try self.frames.feed(bytes) { opcode, payload in self.received(opcode, payload, at: now) }
            return true
        } catch {
            self.loop.failed("the server sent what is no WebSocket frame")
            return false
        }
    }

    private func received(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, at now: Int64) {
        switch opcode {
        case .text:
            self.received(PacketScanner.scan(payload), payload, at: now)
        case .ping:
            guard let context else { return }
            self.append(.pong, payload)
            self.flush(context)
        case .close:
            self.loop.failed("the server closed with \(Self.closeCode(payload))")
            self.close()
        case .binary, .continuation, .pong:
            break
        }
    }

    private static func closeCode(_ payload: UnsafeRawBufferPointer) -> Int {
        payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
    }

    private func received(_ packet: PacketScanner.Packet, _ text: UnsafeRawBufferPointer, at now: Int64) {
        switch packet {
        case .preview(let sentAt, let folded):
            self.loop.previewArrived(sentAt: sentAt, folded: folded, at: now, isSlow: self.plan.isSlow)
        case .commit(let sentAt):
            self.loop.commitArrived(sentAt: sentAt, at: now, isSlow: self.plan.isSlow)
        case .acknowledgement(let id, let body):
            self.acknowledged(id, Answer(UnsafeRawBufferPointer(rebasing: text[body...])), at: now)
        case .ping:
            self.send([UInt8(ascii: "3")])
        case .open:
            self.phase = .connecting
            self.send(Greeting.connect(self.plan, self.loop.target))
        case .connected:
            self.connected()
        case .refused, .disconnected, .close:
            self.loop.failed("the server refused or ended the connection: \(String(decoding: text, as: UTF8.self))")
            self.close()
        case .event, .unknown:
            self.loop.tally.otherEvents += 1
        }
    }

    // MARK: Greeting

    private func connected() {
        guard self.plan.room != nil else { return self.becomeLive() }
        self.phase = .joining
        self.send(Greeting.join(self.room))
    }

    private func acknowledged(_ id: Int, _ answer: Answer, at now: Int64) {
        switch (id, self.phase) {
        case (Greeting.joinID, .joining):
            guard answer == .applied else {
                self.loop.failed("joining was refused: \(answer)")
                return self.close()
            }
            self.lane.joined(used: 0)
            self.create(after: 0)
        case (Greeting.createID, .creating(let made)):
            // A conflict: they are there since an earlier connection.
            guard answer == .applied || answer == .refused(.conflict) else {
                self.loop.failed("creating elements was refused: \(answer)")
                return self.close()
            }
            self.create(after: made)
        default:
            guard let latency = self.lane.answered(id, answer, at: now) else { return }
            self.loop.commitAnswered(answer, latency: latency)
        }
    }

    /// Makes the next elements of its own, then those of the room; then takes part.
    private func create(after made: Int) {
        let isMaker = self.preview != nil || self.commit != nil
        if self.phase == .joining, isMaker, !self.loop.target.isPlain {
            self.phase = .creating(0)
            return self.send(Greeting.create(room: self.room, element: self.element))
        }
        let further = self.plan.isFirst && !self.loop.target.isPlain ? self.loop.load.elements : 0
        guard made < further else { return self.becomeLive() }
        self.phase = .creating(min(further, made + Greeting.batch))
        self.send(Greeting.createMore(room: self.room, first: made, upTo: further))
    }

    private func becomeLive() {
        self.phase = .live
        if self.plan.isSlow { try? self.context?.channel.syncOptions?.setOption(.autoRead, value: false) }
        self.loop.becameLive(self)
    }
}
