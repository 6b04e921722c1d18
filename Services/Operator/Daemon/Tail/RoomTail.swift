internal import Boot
internal import NIOConcurrencyHelpers
internal import TouchSyncClient
internal import TouchSyncClientCore

/// Follows a room and writes what happens in it, until it is stopped.
///
/// It is an app like others: the client connects, joins and joins again. What the client receives goes through the
/// machine in order; what did not come is read from the room's history before anything that follows.
final class RoomTail: Sendable {
    struct Options: Sendable {
        var url: String
        var room: String
        /// nil for servers without tokens.
        var token: String?
        var showsPreviews: Bool
    }

    private enum Input: Sendable {
        case message(String)
        case state(ClientState)
    }

    /// Messages that wait while a page of the history is read; what is beyond is read from there, too.
    private static let waiting = 4096

    private let failureBox = NIOLockedValueBox<String?>(nil)
    private let isOver = NIOLockedValueBox(false)
    private let task: Task<Void, Never>

    /// A tail that begins immediately.
    /// - Throws: `ClientSetupError` for an address that is none.
    init(_ options: Options, lines: TailLines, write: @escaping @Sendable (String) -> Void) throws {
        let (inputs, feed) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(Self.waiting))
        let transport = ObservedTransport(transport: PlatformTransport.make()) { feed.yield(.message($0)) }
        let client = try SyncClient(
            url: options.url, user: ClientUser(id: "operator", name: "touchsync tail"),
            token: options.token.map { token in { @Sendable _ in token } }, transport: transport)
        let (failureBox, isOver) = (self.failureBox, self.isOver)
        self.task = Task {
            let room = client.room(options.room)
            let states = client.states
            let follower = Follower(options: options, room: room, lines: lines, write: write)
            client.connect()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await state in states { feed.yield(.state(state)) } }
                group.addTask {
                    do { try await room.joined() } catch {
                        if !Task.isCancelled { failureBox.withLockedValue { $0 = "\(error)" } }
                    }
                }
                group.addTask { await follower.run(inputs) }
                await withTaskCancellationHandler {
                    await group.waitForAll()
                } onCancel: {
                    feed.finish()
                }
            }
            await client.close()
            isOver.withLockedValue { $0 = true }
        }
    }

    /// Why the room cannot be followed; nil while it can.
    var failure: String? { self.failureBox.withLockedValue { $0 } }
    var hasEnded: Bool { self.isOver.withLockedValue { $0 } }

    /// It leaves the room and ends.
    func stop() { self.task.cancel() }

    /// The consumer of all inputs, one after the other.
    private struct Follower: Sendable {
        let options: Options
        let room: SyncRoom
        let lines: TailLines
        let write: @Sendable (String) -> Void

        private var now: String { WallClock.text() }

        func run(_ inputs: AsyncStream<Input>) async {
            var machine = TailMachine(room: self.options.room)
            var isConnected = true
            for await input in inputs {
                switch input {
                case .message(let text):
                    guard let packet = ServerPacket(text: text) else { continue }
                    for event in machine.received(packet) { await self.show(event) }
                case .state(.live):
                    if !isConnected { self.note("connected", "connected again") }
                    isConnected = true
                case .state(.offline), .state(.expired):
                    if isConnected { self.note("disconnected", "no connection to \(self.options.url): trying again") }
                    isConnected = false
                case .state: break
                }
            }
        }

        private func show(_ event: TailMachine.Event) async {
            switch event {
            case .joined(let seq, let elements):
                self.note(
                    "joined",
                    "\(self.options.room) has \(elements) element\(elements == 1 ? "" : "s") after update \(seq)",
                    seq: seq)
            case .update(let update): self.write(self.lines.line(of: update, time: self.now))
            case .preview(let preview):
                if self.options.showsPreviews { self.write(self.lines.line(of: preview, time: self.now)) }
            case .historyReplaced(let seq):
                self.note("replaced", "the server has another history of the room, after update \(seq)", seq: seq)
            case .missed(let after, let last): await self.catchUp(after: after, upTo: last)
            }
        }

        /// Shows what was missed from the room's history.
        private func catchUp(after: Int64, upTo last: Int64) async {
            var position = after
            while position < last, !Task.isCancelled {
                guard let page = try? await self.room.history(after: position, limit: 200) else {
                    return self.note(
                        "lost", "updates \(position + 1) to \(last) are missing: the history cannot be read")
                }
                // Without any change the history reaches back to none of them.
                let oldest = page.oldest ?? last + 1
                if oldest > position + 1 {
                    self.note("lost", "updates \(position + 1) to \(oldest - 1) are not in the log any more")
                    position = oldest - 1
                }
                for entry in page.entries where entry.seq > position && entry.seq <= last {
                    self.write(self.lines.line(of: TailUpdate(entry), time: entry.at))
                    position = entry.seq
                }
                guard page.next != nil else { return }
            }
        }

        private func note(_ kind: String, _ text: String, seq: Int64? = nil) {
            self.write(self.lines.note(kind, text, seq: seq, time: self.now))
        }
    }
}

extension TailUpdate {
    fileprivate init(_ entry: RoomHistoryEntry) {
        self.init(
            seq: entry.seq, event: entry.event, userId: entry.userId, cause: entry.cause,
            changes: entry.changes.map { Change(id: $0.elementId, before: $0.before, after: $0.after) })
    }
}

/// A transport that shows every message from the server to an observer before the client reads it.
private struct ObservedTransport: Transport {
    let transport: any Transport
    /// Called with each message, in order.
    let observe: @Sendable (String) -> Void

    func open(_ url: String) async throws -> any TransportConnection {
        Connection(connection: try await self.transport.open(url), observe: self.observe)
    }

    func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
        try await self.transport.get(url, token: token, limit: limit)
    }

    private struct Connection: TransportConnection {
        let connection: any TransportConnection
        let observe: @Sendable (String) -> Void

        func send(_ text: String) { self.connection.send(text) }

        func receive() async -> String? {
            let text = await self.connection.receive()
            if let text { self.observe(text) }
            return text
        }

        func close() { self.connection.close() }
    }
}
