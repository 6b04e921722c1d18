/// The commits of one connection in its room: their numbers, the unanswered ones, and when to resend. Numbers run 1, 2, 3 … as the contract requires. After a refusal that does not use up its number, nothing is sent
/// until everything outstanding is answered; then the lane continues with the lowest unused number. Pure; times are
/// nanoseconds.
struct CommitLane: Sendable {
    /// Acknowledgement ids of commits have seven digits from here on, so that a message keeps its length; lower ids are
    /// for other requests.
    static let firstID = 1_000_000
    private static let lastID = 9_999_999
    /// How long the lane pauses after a refusal.
    static let pause: Int64 = 100_000_000
    /// Codes of refusals that leave the commit's number unused.
    private static let codesThatLeaveNumbers: Set = ["gap", "rate_limited", "busy", "unavailable", "session_expired"]

    /// As many are unanswered at most.
    private let window: Int
    private var outstanding: [(id: Int, number: UInt64, time: Int64)] = []
    private var nextID = Self.firstID
    private var nextNumber: UInt64 = 1
    /// The lowest number that a refusal left unused.
    private var free: UInt64?
    /// Nothing is sent before this time.
    private var restUntil: Int64 = .min

    init(window: Int) { self.window = window }

    var outstandingCount: Int { self.outstanding.count }

    /// Begins a session: nothing is outstanding, and no number was used.
    mutating func restart() {
        let next = self.nextID
        self = CommitLane(window: self.window)
        self.nextID = next
    }

    /// Reserves the next commit; nil while the window is full or the lane pauses.
    mutating func submit(at now: Int64) -> (id: Int, number: UInt64)? {
        guard self.free == nil, self.outstanding.count < self.window, now >= self.restUntil else { return nil }
        let (id, number) = (self.nextID, self.nextNumber)
        self.outstanding.append((id, number, now))
        self.nextID = id == Self.lastID ? Self.firstID : id + 1
        self.nextNumber += 1
        return (id, number)
    }

    /// Handles an answer.
    /// - Returns: the latency; nil for an id that is not outstanding.
    mutating func answered(_ id: Int, _ answer: Answer, at now: Int64) -> Int64? {
        guard let index = self.outstanding.firstIndex(where: { $0.id == id }) else { return nil }
        let sent = self.outstanding.remove(at: index)
        if case .refused(let code) = answer {
            if Self.codesThatLeaveNumbers.contains(code) { self.free = min(self.free ?? sent.number, sent.number) }
            self.restUntil = now + Self.pause
        }
        if self.outstanding.isEmpty, let free {
            self.nextNumber = free
            self.free = nil
        }
        return now - sent.time
    }
}

/// The content of an acknowledgement.
enum Answer: Equatable, Sendable {
    case applied
    case refused(code: String)

    private static let notOk = Needle("k\":false")
    private static let code = Needle("\"code\":\"")

    /// Parses the array of an acknowledgement. Everything but a refusal counts as applied: a server that only relays
    /// may answer anything.
    init(_ body: UnsafeRawBufferPointer) {
        self = .applied
        guard Self.notOk.end(in: body) != nil, let begin = Self.code.end(in: body) else { return }
        self = .refused(code: String(decoding: body[begin...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
    }
}
