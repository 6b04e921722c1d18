package import Timing
import Wire

/// The bytes of the answers that wait for apps: rooms, what was missed, histories; over WebSockets, polling and HTTP.
///
///     asked for ──there is space──► reserved ──answered──► owed ──the kernel took it, or its connection is gone──► settled
///         │  ▲
///         ▼  │ others settle, or 0.5 s pass: then the one that owes most is closed
///        waits
///
/// An answer weighs on its connection and on the user of that, from before it is made until the kernel took it: whatever
/// the app does meanwhile, leaving, joining again, ending its session. What one of more than ``GatewayLimits/snapshotPart``
/// bytes weighs, the fan-out says before it is made; smaller ones weigh when they are.
///
/// A user's answers share ``GatewayLimits/userAnswerBytes``, those of all users ``GatewayLimits/answerBytes``; one may always
/// be under way. Who owes least comes first. Nobody is refused because a share is used up: whoever waits for its own user's
/// share sees one of the user's connections closed when none of them reads; whoever waits for the common one, all
/// that hardly read, and for a minute their users get half of it, after others. When all do read and still nobody gets in,
/// the largest connection of the user that owes most is closed.
package struct AnswerBudget {
    /// Whose output an answer waits in.
    package enum Debtor: Hashable, Sendable {
        case app(UInt64)
        case request(UInt64)
    }

    /// A request that a fan-out answers.
    enum Question: Hashable {
        case join(UInt64)
        case read(UInt64)
    }

    private struct Ask {
        let question: Question
        let debtor: Debtor
        let user: Identifier
        let bytes: Int
        let cameAt: Instant
    }

    private struct Debt {
        let user: Identifier
        var owed = 0
        var isClosing = false
        /// When it was last seen to be read at ``leastPace``, and what it owed then, with what was answered since.
        var movedAt: Instant
        var owedThen = 0

        func isSlow(at now: Instant) -> Bool { !self.isClosing && now >= self.movedAt + AnswerBudget.patience }
    }

    /// What a user's answers weigh together, and when some of it was settled last.
    private struct Share {
        var bytes = 0
        var settledAt = Instant.start
    }

    private let bound: Int
    private let userBound: Int
    /// The answers whose bytes are reserved.
    private var reserved: [Question: Ask] = [:]
    /// In the order in which they came.
    private var waiting: [Ask] = []
    private var debts: [Debtor: Debt] = [:]
    private var shares: [Identifier: Share] = [:]
    /// The bytes that a user is answered, read or not.
    private var rates: RateBudget<Identifier>
    /// Users of whom connections were closed that hardly read, and when.
    private var slowUsers: [Identifier: Instant] = [:]
    /// When one that waited was admitted last.
    private var admittedAt = Instant.start
    /// Debtors whose answers were made since they were last asked for.
    private var fresh: [Debtor] = []
    package private(set) var bytes = 0
    /// Connections closed because others waited for what they did not read.
    package private(set) var closedTotal: UInt64 = 0

    /// For how long nothing may move before somebody is closed.
    static let patience = Nanoseconds.milliseconds(500)
    /// Bytes that a connection takes in that time at least, or it hardly reads.
    static let leastPace = 16 * 1024
    /// For how long a user has less space once it kept others waiting.
    static let memory = Nanoseconds.seconds(60)

    /// - Parameters:
    ///   - bound: bytes of all answers.
    ///   - userBound: bytes of those of one user, who is answered four times as many in a second.
    init(bound: Int, userBound: Int) {
        self.bound = bound
        self.userBound = userBound
        self.rates = RateBudget(perSecond: userBound * 4, burst: userBound * 4)
    }

    /// How many answers wait for space.
    package var waitingCount: Int { self.waiting.count }

    package var debtors: [Debtor] { Array(self.debts.keys) }

    /// The bytes that a debtor has been sent and the kernel did not take.
    package func owed(by debtor: Debtor) -> Int { self.debts[debtor]?.owed ?? 0 }

    // MARK: Before an answer is made

    /// A fan-out is about to be asked.
    /// - Parameter bytes: what the answer weighs; 0: few, or nobody knows yet.
    /// - Returns: false when the answer has to wait; ``admit(at:)`` returns its question later.
    mutating func ask(
        _ question: Question, for bytes: Int, by debtor: Debtor, of user: Identifier, at now: Instant
    ) -> Bool {
        let ask = Ask(question: question, debtor: debtor, user: user, bytes: bytes, cameAt: now)
        if self.reserve(ask, at: now) { return true }
        self.waiting.append(ask)
        return false
    }

    /// A fan-out says what an answer would weigh, and has forgotten the question.
    /// - Parameter allowed: bytes that the question allows the answer.
    /// - Returns: the bytes to ask for instead, more than the answer weighs because its room may grow meanwhile; nil when
    ///   the same question is asked again: it was sent twice, and the first time allowed for less.
    mutating func weighed(_ question: Question, _ weight: AnswerWeight, allowed: UInt32) -> UInt32? {
        guard weight.bytes > allowed else { return nil }
        self.withdraw(question)
        return UInt32(clamping: Int(weight.bytes) + 16 * 1024)
    }

    /// Removes and returns the questions for whose answers there is space by now.
    mutating func admit(at now: Instant) -> [Question] {
        if self.waiting.isEmpty { return [] }
        var admitted: [Question] = []
        for ask in self.inTurn(at: now) where self.reserve(ask, at: now) { admitted.append(ask.question) }
        guard !admitted.isEmpty else { return [] }
        self.admittedAt = now
        let questions = Set(admitted)
        self.waiting.removeAll { questions.contains($0.question) }
        return admitted
    }

    /// Nobody waits for an answer any more, or it is not made: no bytes are reserved for it.
    mutating func withdraw(_ question: Question) {
        if let ask = self.reserved.removeValue(forKey: question) {
            self.add(-ask.bytes, to: ask.user)
        } else if !self.waiting.isEmpty {
            self.waiting.removeAll { $0.question == question }
        }
    }

    /// Those that wait, the ones of users first that have kept nobody waiting, then of those whose answers weigh least.
    private func inTurn(at now: Instant) -> [Ask] {
        let asks = self.waiting.enumerated().map { index, ask in
            (rank: (self.isSlow(ask.user, at: now) ? 1 : 0, self.shares[ask.user]?.bytes ?? 0, index), ask: ask)
        }
        return asks.sorted { $0.rank < $1.rank }.map(\.ask)
    }

    private func fitsShare(_ ask: Ask) -> Bool {
        Self.fits(ask.bytes, beside: self.shares[ask.user]?.bytes ?? 0, self.userBound)
    }

    /// One may always be under way.
    private static func fits(_ bytes: Int, beside others: Int, _ bound: Int) -> Bool {
        others == 0 || others + bytes <= bound
    }

    /// Reserves the bytes of an answer; false when there is no space for it, or its user was answered very much lately.
    private mutating func reserve(_ ask: Ask, at now: Instant) -> Bool {
        guard self.fitsShare(ask),
            ask.bytes == 0 || Self.fits(ask.bytes, beside: self.bytes, self.space(for: ask.user, at: now)),
            self.rates.debt(of: ask.user, at: now) == nil
        else { return false }
        self.reserved[ask.question] = ask
        self.add(ask.bytes, to: ask.user)
        self.rates.charge(ask.bytes, of: ask.user, at: now)
        return true
    }

    private mutating func add(_ bytes: Int, to user: Identifier) {
        guard bytes != 0 else { return }
        self.bytes += bytes
        self.shares[user, default: Share()].bytes += bytes
        if self.shares[user]?.bytes == 0 { self.shares[user] = nil }
    }

    // MARK: While it waits for its app

    /// An answer was made, and is in its debtor's output now.
    mutating func made(_ bytes: Int, for question: Question, at now: Instant) {
        guard let ask = self.reserved.removeValue(forKey: question) else { return }
        self.rates.charge(max(0, bytes - ask.bytes), of: ask.user, at: now)
        self.add(bytes - ask.bytes, to: ask.user)
        self.debts[ask.debtor, default: Debt(user: ask.user, movedAt: now)].owed += bytes
        self.debts[ask.debtor]?.owedThen += bytes
        self.fresh.append(ask.debtor)
    }

    /// Removes and returns the debtors whose answers were made lately.
    package mutating func takeFresh() -> [Debtor] {
        defer { self.fresh.removeAll(keepingCapacity: true) }
        return self.fresh
    }

    /// A debtor's connection holds no more than that, and the kernel has taken the rest; 0 also when it is gone.
    package mutating func settle(_ debtor: Debtor, holding bytes: Int, at now: Instant) {
        guard let debt = self.debts[debtor], debt.owed > bytes else { return }
        self.debts[debtor]?.owed = bytes
        if debt.owedThen - bytes >= Self.leastPace {
            self.debts[debtor]?.owedThen = bytes
            self.debts[debtor]?.movedAt = now
        }
        if bytes == 0 { self.debts[debtor] = nil }
        self.add(bytes - debt.owed, to: debt.user)
        self.shares[debt.user]?.settledAt = now
    }

    // MARK: Who is closed

    /// Names the debtors to close because others have waited for too long. What they owe counts until it is settled.
    mutating func overdue(at now: Instant) -> [Debtor] {
        guard !self.waiting.isEmpty else { return [] }
        var closing: [Debtor] = []
        var users: Set<Identifier> = []
        var first: Ask?
        for ask in self.inTurn(at: now) where self.rates.debt(of: ask.user, at: now) == nil {
            if self.fitsShare(ask) {
                if first == nil { first = ask }
            } else if users.insert(ask.user).inserted, self.isStuck(ask, at: now) {
                if let debtor = self.largest(of: ask.user) { closing.append(self.close(debtor)) }
            }
        }
        guard let first, now >= first.cameAt + Self.patience * (self.isSlow(first.user, at: now) ? 4 : 1) else {
            return closing
        }
        closing += self.closeSlow(at: now)
        guard closing.isEmpty, now >= self.admittedAt + Self.patience else { return closing }
        var rest = self.bytes - self.debts.values.reduce(0) { $0 + ($1.isClosing ? $1.owed : 0) }
        while !Self.fits(first.bytes, beside: rest, self.space(for: first.user, at: now)),
            let user = self.largestUser(), let debtor = self.largest(of: user)
        {
            rest -= self.owed(by: debtor)
            closing.append(self.close(debtor))
        }
        return closing
    }

    /// Closes all that hardly read, and remembers whose they are.
    private mutating func closeSlow(at now: Instant) -> [Debtor] {
        let slow = self.debts.filter { $0.value.isSlow(at: now) }.keys.sorted { $0.number < $1.number }
        if self.slowUsers.count > 1000 { self.slowUsers = self.slowUsers.filter { now < $0.value + Self.memory } }
        for debtor in slow { if let user = self.debts[debtor]?.user { self.slowUsers[user] = now } }
        return slow.map { self.close($0) }
    }

    /// Whether a connection of the user kept others waiting lately.
    private func isSlow(_ user: Identifier, at now: Instant) -> Bool {
        self.slowUsers[user].map { now < $0 + Self.memory } ?? false
    }

    /// Bytes that the answers of all may weigh with one more of that user.
    private func space(for user: Identifier, at now: Instant) -> Int {
        self.isSlow(user, at: now) ? self.bound / 2 : self.bound
    }

    /// True when nothing of its user's share was settled for a while.
    private func isStuck(_ ask: Ask, at now: Instant) -> Bool {
        let share = self.shares[ask.user] ?? Share()
        return now >= max(ask.cameAt, share.settledAt) + Self.patience
            && !self.debts.values.contains { $0.user == ask.user && $0.isClosing }
    }

    private mutating func close(_ debtor: Debtor) -> Debtor {
        self.debts[debtor]?.isClosing = true
        self.closedTotal += 1
        return debtor
    }

    /// The user that owes most, without what is about to be closed.
    private func largestUser() -> Identifier? {
        var owed: [Identifier: Int] = [:]
        for debt in self.debts.values where !debt.isClosing { owed[debt.user, default: 0] += debt.owed }
        return owed.max { ($0.value, $0.key.text) < ($1.value, $1.key.text) }?.key
    }

    private func largest(of user: Identifier) -> Debtor? {
        self.debts.filter { $0.value.user == user && !$0.value.isClosing }
            .max { ($0.value.owed, $0.key.number) < ($1.value.owed, $1.key.number) }?.key
    }
}

extension AnswerBudget.Debtor {
    /// Its number, which decides between equals.
    fileprivate var number: UInt64 {
        switch self {
        case .app(let number), .request(let number): number
        }
    }
}
