import JSONBytes

/// What an input causes, in its order. Numbers requests, and remembers what each is about until it is answered.
///
/// Requests that are open together are bounded by the server's window of edits, and a few for each room.
struct ClientOutbox: Sendable {
    private struct OpenRequest: Sendable {
        let number: Int
        let sentAt: Int64
        let subject: RequestSubject
    }

    private(set) var now: Int64 = 0
    /// Whether events may be sent.
    private(set) var isConnected = false
    /// The server's clock, as answers tell it.
    private(set) var serverClock = ServerClock()
    private var outputs: [ClientOutput] = []
    /// In the order in which they were sent.
    private var openRequests: [OpenRequest] = []
    private var nextNumber = 0

    /// When the oldest request without an answer was sent, ms.
    var oldestRequestTime: Int64? { self.openRequests.first?.sentAt }

    // MARK: Inputs

    mutating func begin(at now: Int64) {
        self.now = now
    }

    /// Everything that the input caused. What is sent is saved before.
    mutating func drain() -> [ClientOutput] {
        defer { self.outputs.removeAll(keepingCapacity: true) }
        return self.outputs.filter(\.isSave) + self.outputs.filter { !$0.isSave }
    }

    mutating func connectionAccepted() {
        self.isConnected = true
    }

    /// Nothing that was asked is answered any more.
    mutating func connectionLost() {
        self.isConnected = false
        self.serverClock.connectionLost()
        self.openRequests.removeAll(keepingCapacity: true)
    }

    /// What an answer is about; nil when nothing of that number is open.
    /// - Parameter time: the server's, ms since 1970, if the answer tells it.
    mutating func answered(_ number: Int, time: Double?) -> RequestSubject? {
        guard let index = self.openRequests.firstIndex(where: { $0.number == number }) else { return nil }
        let request = self.openRequests.remove(at: index)
        if let time { self.serverClock.answered(sentAt: Double(request.sentAt), at: Double(self.now), time: time) }
        return request.subject
    }

    /// The server's time, ms since 1970; nil before it is known.
    var serverTime: Double? { self.serverClock.time(at: Double(self.now)) }

    // MARK: Outputs

    mutating func tell(_ output: ClientOutput) {
        self.outputs.append(output)
    }

    mutating func write(_ packet: String) {
        self.outputs.append(.send(packet))
    }

    mutating func emit(_ event: String, _ payload: (inout JSONWriter) -> Void) {
        guard self.isConnected else { return }
        self.write("42", event, payload)
    }

    mutating func request(
        _ event: String, about subject: RequestSubject, _ payload: (inout JSONWriter) -> Void = { _ in }
    ) {
        guard self.isConnected else { return }
        let number = self.nextNumber
        self.nextNumber += 1
        self.openRequests.append(OpenRequest(number: number, sentAt: self.now, subject: subject))
        self.write("42\(number)", event, payload)
    }

    private mutating func write(_ head: String, _ event: String, _ payload: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginArray()
        writer.value(event)
        writer.beginObject()
        payload(&writer)
        writer.endObject()
        writer.endArray()
        self.write(head + String(decoding: writer.bytes, as: UTF8.self))
    }
}

/// What the answer to a request decides. Rooms are named by their serials.
enum RequestSubject: Sendable {
    /// Nothing: it only shows that the connection lives.
    case nothing
    /// Whether a room may be entered.
    case join(room: Int)
    /// Whether an edit was applied, in this sending of it, under this session.
    case edit(room: Int, key: Int, attempt: Int, session: String?)
    /// Whether the server takes what this user shows in a room.
    case awareness(room: Int, isViewport: Bool)
    /// Whether the server accepts another token.
    case token(String)
}

extension ClientOutput {
    fileprivate var isSave: Bool {
        if case .room(_, .save) = self { true } else { false }
    }
}
