import Testing
import Timing
import Wire

@testable import GatewayCore

/// What answers weigh, from before they are made until the kernel took them.
@Suite struct AnswerBudgetTests {
    private static let start = Instant(milliseconds: 1000)

    /// A budget to which answers are given with few words.
    private struct Books {
        var budget: AnswerBudget
        var now = AnswerBudgetTests.start
        private var last: UInt64 = 0

        init(bound: Int, userBound: Int) {
            self.budget = AnswerBudget(bound: bound, userBound: userBound)
        }

        /// A connection of a user asks.
        mutating func ask(_ bytes: Int, by connection: UInt64, of user: Identifier) -> (UInt64, isAsked: Bool) {
            self.last += 1
            let isAsked = self.budget.ask(
                .join(self.last), for: bytes, by: .app(connection), of: user, at: self.now)
            return (self.last, isAsked)
        }

        /// The same, answered at once.
        mutating func owe(_ bytes: Int, by connection: UInt64, of user: Identifier) {
            let (question, isAsked) = self.ask(bytes, by: connection, of: user)
            #expect(isAsked)
            self.budget.made(bytes, for: .join(question), at: self.now)
        }

        mutating func settle(_ connection: UInt64, holding bytes: Int) {
            self.budget.settle(.app(connection), holding: bytes, at: self.now)
        }

        mutating func admitted() -> Int { self.budget.admit(at: self.now).count }
        mutating func overdue() -> [AnswerBudget.Debtor] { self.budget.overdue(at: self.now) }
        mutating func advance(_ milliseconds: UInt64) { self.now = self.now + .milliseconds(milliseconds) }
    }

    @Test func anAnswerCountsUntilTheKernelTookIt() {
        var books = Books(bound: 1000, userBound: 500)
        let (first, _) = books.ask(200, by: 1, of: "ann")
        #expect(books.budget.bytes == 200)
        books.budget.made(210, for: .join(first), at: books.now)
        books.owe(200, by: 1, of: "ann")
        #expect(books.budget.bytes == 410 && books.budget.owed(by: .app(1)) == 410)
        books.settle(1, holding: 900)
        #expect(books.budget.bytes == 410, "its connection holds other things, too")
        books.settle(1, holding: 30)
        #expect(books.budget.bytes == 30)
        books.settle(1, holding: 0)
        #expect(books.budget.bytes == 0 && books.budget.debtors.isEmpty)
    }

    @Test func anAnswerThatIsNotMadeIsGivenBack() {
        var books = Books(bound: 1000, userBound: 500)
        let (first, _) = books.ask(400, by: 1, of: "ann")
        let (second, isAsked) = books.ask(400, by: 2, of: "ann")
        #expect(!isAsked && books.budget.waitingCount == 1)
        books.budget.withdraw(.join(second))
        #expect(books.budget.waitingCount == 0 && books.budget.bytes == 400)
        books.budget.withdraw(.join(first))
        #expect(books.budget.bytes == 0)
    }

    @Test func oneMayAlwaysBeUnderWay() {
        var books = Books(bound: 1000, userBound: 100)
        books.owe(400, by: 1, of: "ann")
        let others = [books.ask(10, by: 2, of: "ann").isAsked, books.ask(400, by: 3, of: "bob").isAsked]
        #expect(others == [false, true])
    }

    @Test func whoOwesLeastComesFirst() {
        var books = Books(bound: 1000, userBound: 600)
        books.owe(400, by: 1, of: "ann")
        books.owe(500, by: 2, of: "bob")
        _ = books.ask(200, by: 3, of: "ann")
        let (cid, _) = books.ask(200, by: 4, of: "cid")
        #expect(books.admitted() == 0)
        books.settle(2, holding: 300)
        #expect(books.budget.admit(at: books.now) == [.join(cid)])
    }

    @Test func nobodysUnreadBytesKeepAnothersAnswerWaiting() {
        var books = Books(bound: 1000, userBound: 500)
        books.owe(200, by: 1, of: "ann")
        books.owe(200, by: 2, of: "ann")
        books.owe(450, by: 3, of: "bob")
        books.owe(40, by: 4, of: "bob")
        #expect(!books.ask(300, by: 5, of: "cid").isAsked)
        books.advance(499)
        // That they read a little helps them not.
        books.settle(3, holding: 445)
        #expect(books.admitted() == 0 && books.overdue().isEmpty)
        books.advance(1)
        #expect(books.overdue() == [.app(1), .app(2), .app(3), .app(4)])
        #expect(books.admitted() == 0, "their bytes are there until they are gone")
        #expect(books.overdue().isEmpty, "they are about to be closed")
        books.settle(3, holding: 0)
        #expect(books.admitted() == 1)
    }

    @Test func whoeverReadsIsNotClosedForWhoeverWaits() {
        let mebibyte = 1 << 20
        var books = Books(bound: 10 * mebibyte, userBound: 5 * mebibyte)
        books.owe(5 * mebibyte, by: 1, of: "ann")
        books.owe(4 * mebibyte, by: 2, of: "bob")
        #expect(!books.ask(4 * mebibyte, by: 3, of: "cid").isAsked)
        var left = 5 * mebibyte
        for _ in 0..<10 {
            books.advance(100)
            left -= AnswerBudget.leastPace / 4
            books.settle(1, holding: left)
        }
        #expect(books.overdue() == [.app(2)], "ann owes more, and takes her bytes")
    }

    @Test func whoHardlyReadsIsClosedAndHasLessSpaceForAMinute() {
        var books = Books(bound: 1000, userBound: 500)
        for connection in 1...4 as ClosedRange<UInt64> {
            books.owe(250, by: connection, of: connection > 2 ? "ann" : "bob")
        }
        _ = books.ask(250, by: 5, of: "eve")
        books.advance(500)
        #expect(books.overdue() == [.app(1), .app(2), .app(3), .app(4)])
        for connection in 1...4 as ClosedRange<UInt64> { books.settle(connection, holding: 0) }
        #expect(books.admitted() == 1)
        // Half of the space is for others: of what ann and bob ask for again, one answer is made.
        let again = (6...8 as ClosedRange<UInt64>).map { books.ask(250, by: $0, of: $0 == 6 ? "ann" : "bob").isAsked }
        #expect(again == [true, false, false])
        let others = (["cid", "dan", "fay"] as [Identifier]).map { books.ask(250, by: 9, of: $0).isAsked }
        #expect(others == [true, true, false])
        books.advance(60_000)
        books.settle(5, holding: 0)
        #expect(books.admitted() == 0, "nothing was made of it yet")
    }

    @Test func aUsersOwnUnreadBytesKeepItWaitingOnlyUntilNoneIsRead() {
        var books = Books(bound: 1000, userBound: 500)
        books.owe(300, by: 1, of: "ann")
        books.owe(200, by: 2, of: "ann")
        #expect(!books.ask(100, by: 3, of: "ann").isAsked)
        for left in [290, 280, 270] {
            books.advance(400)
            books.settle(1, holding: left)
            #expect(books.overdue().isEmpty)
        }
        books.advance(500)
        #expect(books.overdue() == [.app(1)])
        books.settle(1, holding: 0)
        #expect(books.admitted() == 1)
    }

    @Test func whoIsAnsweredVeryMuchWaits() {
        var books = Books(bound: 1000, userBound: 100)
        var count = 0
        while true {
            let (question, isAsked) = books.ask(0, by: 1, of: "ann")
            guard isAsked else { break }
            books.budget.made(50, for: .join(question), at: books.now)
            books.settle(1, holding: 0)
            count += 1
        }
        #expect(count == 8, "small answers count, too")
        #expect(books.ask(90, by: 2, of: "bob").isAsked)
        books.advance(400)
        #expect(books.overdue().isEmpty && books.admitted() == 1)
    }

    // MARK: Whatever happens

    /// What the budget should know, in the plainest form.
    private struct Model {
        struct Answer {
            let connection: UInt64
            let bytes: Int
        }

        var reserved: [UInt64: Answer] = [:]
        var owed: [UInt64: Int] = [:]
        var bytes: Int { self.reserved.values.reduce(0) { $0 + $1.bytes } + self.owed.values.reduce(0, +) }

        func owed(of user: Int) -> Int { self.owed.reduce(0) { $0 + ($1.key % 5 == user ? $1.value : 0) } }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func theBytesAreThoseThatNoKernelTookWhateverHappens(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var budget = AnswerBudget(bound: 5000, userBound: 2000)
        var model = Model()
        var waiting: [UInt64: Model.Answer] = [:]
        var closing: Set<UInt64> = []
        var closings = 0
        var now = Self.start
        for question in 1...1000 as ClosedRange<UInt64> {
            now = now + .milliseconds(UInt64.random(in: 0...60, using: &random))
            let connection = UInt64.random(in: 0..<30, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let answer = Model.Answer(connection: connection, bytes: Int.random(in: 0...900, using: &random))
                let isAsked = budget.ask(
                    .join(question), for: answer.bytes, by: .app(connection), of: Identifier("user-\(connection % 5)"),
                    at: now)
                if isAsked { model.reserved[question] = answer } else { waiting[question] = answer }
            case 4, 5:
                guard let (asked, answer) = model.reserved.min(by: { $0.key < $1.key }) else { continue }
                let bytes = answer.bytes + Int.random(in: 0...50, using: &random)
                budget.made(bytes, for: .join(asked), at: now)
                model.reserved[asked] = nil
                model.owed[answer.connection, default: 0] += bytes
            case 6:
                // Its app left, or lost the right to the room.
                guard let asked = (model.reserved.keys.min() ?? waiting.keys.min()) else { continue }
                budget.withdraw(.join(asked))
                model.reserved[asked] = nil
                waiting[asked] = nil
            case 7:
                let holding = Int.random(in: 0...max(1, model.owed[connection] ?? 0), using: &random)
                budget.settle(.app(connection), holding: holding, at: now)
                if let owed = model.owed[connection] { model.owed[connection] = min(owed, holding) }
            case 8:
                // The connections that are to be closed are gone by now.
                for connection in closing {
                    budget.settle(.app(connection), holding: 0, at: now)
                    model.owed[connection] = nil
                }
                closing = []
            default:
                for case .join(let asked) in budget.admit(at: now) {
                    model.reserved[asked] = waiting.removeValue(forKey: asked)
                }
                for case .app(let connection) in budget.overdue(at: now) {
                    #expect(model.owed[connection] ?? 0 > 0 && closing.insert(connection).inserted)
                    closings += 1
                }
            }
            #expect(budget.bytes == model.bytes && budget.waitingCount == waiting.count)
        }
        #expect(closings > 0)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func whenAllReadWhoIsClosedIsOfTheOneWhoOwesMost(seed: UInt64) {
        let unit = AnswerBudget.leastPace
        var random = SplitMix64(seed: seed)
        var books = Books(bound: 10_000 * unit, userBound: 4000 * unit)
        var owed: [Identifier: [UInt64: Int]] = [:]
        while true {
            let connection = UInt64.random(in: 1...40, using: &random)
            let user = Identifier("user-\(connection % 7)")
            let bytes = Int.random(in: 2...800, using: &random) * unit
            guard books.budget.bytes + bytes <= 10_000 * unit else { break }
            let (question, isAsked) = books.ask(bytes, by: connection, of: user)
            guard isAsked else {
                books.budget.withdraw(.join(question))
                continue
            }
            books.budget.made(bytes, for: .join(question), at: books.now)
            owed[user, default: [:]][connection, default: 0] += bytes
        }
        #expect(!books.ask(900 * unit, by: 99, of: "newcomer").isAsked)
        books.advance(499)
        for user in owed.keys {
            for connection in owed[user, default: [:]].keys {
                owed[user]?[connection]? -= unit
                books.settle(connection, holding: owed[user]?[connection] ?? 0)
            }
        }
        books.advance(1)
        let closed = books.overdue()
        #expect(!closed.isEmpty)
        for case .app(let connection) in closed {
            let user = Identifier("user-\(connection % 7)")
            let sums = owed.mapValues { $0.values.reduce(0, +) }
            #expect(sums[user] == sums.values.max())
            #expect(owed[user]?[connection] == owed[user]?.values.max())
            owed[user]?[connection] = nil
            books.settle(connection, holding: 0)
        }
        #expect(books.admitted() == 1)
    }
}

/// The same through a gateway: joins that are weighed, and connections that are closed.
@Suite struct AnswerWeightTests {
    private static func scene() -> Scene {
        var limits = GatewayLimits()
        limits.snapshotPart = 1000
        limits.answerBytes = 80_000
        limits.userAnswerBytes = 60_000
        return Scene(limits: limits)
    }

    private static func weigh(_ bytes: UInt32, _ actions: [GatewayAction], in scene: inout Scene) {
        for join in actions.joins {
            let weight = AnswerWeight(request: join.request, room: join.room, isRead: false, bytes: bytes)
            scene.gateway.weightReceived(weight, at: scene.moment, into: &scene.actions)
        }
    }

    /// A fan-out's answer with a room of so many bytes.
    private static func answer(_ bytes: Int, _ actions: [GatewayAction], in scene: inout Scene) {
        let room = Array("[".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: bytes) + Array("]".utf8)
        for join in actions.joins {
            let joined = JoinReply.Joined(
                position: Position(epoch: "e", seq: 3), content: .elements(room), members: [join.member],
                session: "secret", sid: Identifier("s-\(join.connection)"), sessionEpoch: 1, number: 0)
            scene.gateway.joinAnswered(
                JoinReply(
                    request: join.request, room: join.room, connection: join.connection, outcome: .success(joined)),
                at: scene.moment, seconds: 0, into: &scene.actions)
        }
    }

    /// A user's connection that has a room of so many bytes in its output.
    private static func reader(_ user: String, _ bytes: UInt32, in scene: inout Scene) throws -> Slot {
        let slot = try scene.connect(user)
        scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
        self.weigh(bytes, scene.take(), in: &scene)
        self.answer(Int(bytes), scene.take(), in: &scene)
        _ = scene.take()
        return slot
    }

    @Test func anAnswerIsWeighedBeforeItIsMade() throws {
        var scene = Self.scene()
        let slot = try scene.connect("ada")
        scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let first = scene.take()
        #expect(first.joins.map(\.allowance) == [1000])
        Self.weigh(9000, first, in: &scene)
        let second = scene.take()
        #expect(second.joins.map(\.request) == first.joins.map(\.request))
        let allowance = try #require(second.joins.first?.allowance)
        #expect(allowance >= 9000 && scene.gateway.joins.answers.bytes == Int(allowance))
        // The same join was sent twice, so it is weighed twice; the fan-out has forgotten what came between.
        Self.weigh(9000, first, in: &scene)
        #expect(scene.take().joins.map(\.allowance) == [allowance])
        #expect(scene.gateway.joins.answers.bytes == Int(allowance))
        // The room has grown meanwhile.
        Self.weigh(allowance + 1, second, in: &scene)
        let third = scene.take()
        #expect(third.joins.count == 1)
        Self.answer(9000, third, in: &scene)
        #expect(scene.take().contains { if case .snapshot(slot, _) = $0 { true } else { false } })
        #expect((9000...12_000).contains(scene.gateway.joins.answers.bytes))
    }

    @Test func leavingJoiningAgainAndGoingGiveNothingBack() throws {
        var scene = Self.scene()
        let ada = try Self.reader("ada", 9000, in: &scene)
        let debtor = AnswerBudget.Debtor.app(scene.gateway.relay.connections.id(in: ada))
        let owed = scene.gateway.joins.answers.owed(by: debtor)
        #expect(owed >= 9000)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 2)
        #expect(scene.gateway.joins.answers.owed(by: debtor) == owed)
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 3)
        Self.answer(500, scene.take(), in: &scene)
        #expect(scene.gateway.joins.answers.owed(by: debtor) > owed)
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.joins.answers.owed(by: debtor) > owed)
        scene.gateway.answersTaken(by: debtor, holding: 0, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.joins.answers.bytes == 0)
    }

    @Test func anAbandonedJoinThatIsWeighedIsOver() throws {
        var scene = Self.scene()
        let slot = try scene.connect("ada")
        scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let asked = scene.take()
        scene.gateway.disconnected(slot, at: scene.moment, into: &scene.actions)
        _ = scene.take()
        Self.weigh(9000, asked, in: &scene)
        #expect(scene.take().isEmpty && scene.gateway.joins.answers.bytes == 0)
        scene.advance(20_000)
        #expect(scene.gateway.joins.queuedCount == 0)
    }

    @Test func strangersThatDoNotReadKeepNobodyWaiting() throws {
        var scene = Self.scene()
        var strangers: [UInt64] = []
        for user in ["eve", "mallory"] {
            let slot = try Self.reader(user, 30_000, in: &scene)
            strangers.append(scene.gateway.relay.connections.id(in: slot))
        }
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        Self.weigh(15_000, scene.take(), in: &scene)
        #expect(scene.take().joins.isEmpty)
        scene.advance(600)
        let shed = scene.take().compactMap { if case .shed(.app(let id), _) = $0 { id } else { nil } }
        #expect(shed == strangers)
        scene.gateway.answersTaken(by: .app(shed[0]), holding: 0, at: scene.moment, into: &scene.actions)
        let asked = scene.take()
        #expect(asked.joins.map(\.member.user) == ["ada"])
        Self.answer(15_000, asked, in: &scene)
        #expect(scene.take().contains { if case .snapshot(ada, _) = $0 { true } else { false } })
    }

    @Test func readsOverHTTPAreWeighedAndCount() throws {
        var scene = Self.scene()
        let identity = Identity(member: Member(user: "ada", name: "Ada", color: ""))
        let request = scene.gateway.requestReceived(
            .room("r"), as: identity, at: scene.moment, seconds: 0, into: &scene.actions)
        _ = scene.take()
        let weight = AnswerWeight(request: request, room: "r", isRead: true, bytes: 9000)
        scene.gateway.weightReceived(weight, at: scene.moment, into: &scene.actions)
        let reads = scene.take().compactMap { if case .fanout(_, .read(let read)) = $0 { read } else { nil } }
        #expect(reads.count == 1 && reads[0].request == request && reads[0].allowance >= 9000)
        let state = RoomState.Outcome.state(
            Position(epoch: "e", seq: 2), elements: [UInt8](repeating: UInt8(ascii: " "), count: 9000))
        scene.gateway.readAnswered(
            RoomState(request: request, room: "r", outcome: state), at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.joins.answers.owed(by: .request(request)) > 9000)
        scene.gateway.answerRead(request, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.joins.answers.bytes == 0)
    }
}
