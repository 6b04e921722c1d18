import Canvas
import CommitterCore
import PipelineTestKit
import Timing
import TimingTestKit
import Wire

/// Committers on one model of the database, with clients, a network and connections that all misbehave, driven by one
/// seeded generator.
struct Simulation {
    /// One numbered stream of a user, with everything that it ever asked for.
    struct Client {
        var key: StreamKey
        var user: Identifier
        var claim: UInt32 = 1
        /// The edits of its numbers 1, 2, 3 …
        var edits: [EncodedEdit] = []
        /// The final results by number; the first is the truth that later ones are compared with.
        var results: [UInt64: CommitResult] = [:]
        var settled: UInt64 = 0
    }

    /// A request that the database has not answered. A lost connection's request may still be carried out.
    struct Request {
        var committer: Int
        var lane: Int?
        var action: Committer.Action
    }

    var random: SplitMix64
    var database = MemoryDatabase()
    var committers: [Committer]
    var clients: [Client] = []
    var requests: [Request] = []
    var network: [(committer: Int, commit: Commit)] = []
    var published: [UInt64: Update] = [:]
    var now = Instant.start
    var failures: [String] = []
    /// How often what happened: a run in which nothing went wrong proves little.
    var seen: [String: Int] = [:]
    let lanes = 2
    let shard: Int
    private let rooms: [Identifier]

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
        // Rooms of one shard, so that everything meets on one row.
        self.shard = Shard.of(room: "room")
        let shard = self.shard
        self.rooms = (0..<1000).lazy.map { Identifier("room\($0)") }.filter { Shard.of(room: $0) == shard }
            .prefix(2).map { $0 }
        var limits = CommitterLimits()
        limits.batchItems = 6
        limits.cacheBytesPerShard = 20_000
        limits.deadline = 400
        limits.shortestBackOff = 5
        limits.longestBackOff = 40
        limits.queueItems = 40
        if seed % 3 == 0 {
            limits.roomElements = 4
            limits.elementAnnotations = 1
            limits.commitElements = 2
        }
        self.committers = (0..<2).map { _ in Committer(lanes: 2, rules: .defaults, limits: limits) }
        for number in 0..<4 {
            let room = self.rooms[number % self.rooms.count]
            let user = Identifier("user\(number % 3)")
            self.clients.append(Client(key: StreamKey(room, Identifier("s\(number)")), user: user))
        }
        for index in self.committers.indices {
            for lane in 0..<self.lanes { self.committers[index].connectionUp(lane: lane) }
        }
    }

    // MARK: Running

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            self.now += Nanoseconds(UInt64.random(in: 0...3, using: &self.random))
            switch Int.random(in: 0..<100, using: &self.random) {
            case 0..<30: self.sendSomething()
            case 30..<60: self.deliver()
            case 60..<92: self.answer()
            case 92..<94: self.breakConnection()
            case 94..<97: self.repair()
            case 97: self.resume()
            default: self.tick()
            }
        }
        self.settle()
    }

    /// No more faults: everything that was asked for gets its final result.
    private mutating func settle() {
        for _ in 0..<2000 where !self.clients.allSatisfy({ $0.settled == $0.edits.count }) {
            self.now += 50
            self.repair()
            self.tick()
            for index in self.clients.indices { self.send(self.clients[index].settled + 1, of: index) }
            while !self.network.isEmpty { self.deliver(faults: false) }
            while !self.requests.isEmpty { self.answer(faults: false) }
        }
        for client in self.clients where client.settled != client.edits.count {
            self.failures.append("\(client.key.session) is stuck at \(client.settled) of \(client.edits.count)")
        }
    }

    private mutating func perform(_ index: Int, _ body: (inout Committer, Instant, inout [Committer.Action]) -> Void) {
        var actions: [Committer.Action] = []
        body(&self.committers[index], self.now, &actions)
        self.committers[index].dispatch(into: &actions)
        for action in actions {
            switch action {
            case .load(let lane, _), .write(let lane, _):
                self.requests.append(Request(committer: index, lane: lane, action: action))
            case .result(_, let result): self.received(result)
            case .publish(let update): self.publish(update)
            case .traced: break
            }
        }
    }

    // MARK: Clients

    private mutating func sendSomething() {
        let index = Int.random(in: self.clients.indices, using: &self.random)
        let client = self.clients[index]
        let count = UInt64(client.edits.count)
        if count < client.settled + 5, count < 200 {
            self.clients[index].edits.append(self.edit(client))
            self.send(count + 1, of: index)
        } else {
            // Again: perhaps settled, perhaps not due yet.
            self.send(UInt64.random(in: 1...max(1, count), using: &self.random), of: index)
        }
    }

    private mutating func send(_ number: UInt64, of index: Int) {
        let client = self.clients[index]
        guard number >= 1, number <= client.edits.count else { return }
        var edit = client.edits[Int(number) - 1]
        if client.results[number] != nil, self.random.chance(5) {
            edit = .delete(element: "another body")
        }
        let commit = Commit(
            room: client.key.room, session: client.key.session, claim: client.claim, number: number,
            isNumberedByApp: true, user: client.user, connection: 1,
            gateway: self.random.chance(90) ? "gateway-1" : "gateway-2", gestures: [], edit: edit)
        let committer = Int.random(in: 0..<2, using: &self.random)
        self.network.append((committer, commit))
        if self.random.chance(10) { self.network.append((1 - committer, commit)) }
    }

    private mutating func edit(_ client: Client) -> EncodedEdit {
        let element = Identifier("e\(Int.random(in: 0..<6, using: &self.random))")
        let number = Double(Int.random(in: -900...900, using: &self.random))
        switch Int.random(in: 0..<20, using: &self.random) {
        case 0..<4: return create(element, #"{"type":"photo","positionX":\#(number)}"#)
        case 4: return create(element, #"{"type":"text","parentId":"e0"}"#)
        case 5: return create(Identifier("p\(client.edits.count)"), #"{"type":"poison"}"#)
        case 6: return createMany([(element, #"{"type":"note"}"#), ("e5", #"{"type":"audio","rotation":9}"#)])
        case 7, 8: return .delete(element: element)
        case 9, 10: return update(element, #"{"content":"\#(number)","locked":\#(number > 800)}"#)
        case 11: return update(element, #"{"rotation":1}"#)
        case 12: return EncodedEdit(refusal: Refusal(.tooLarge, "no"), bodyHash: number.bitPattern)
        default: return transform(element, x: number / 2, rotation: number, scaleX: number / 100)
        }
    }

    private mutating func resume() {
        let index = Int.random(in: self.clients.indices, using: &self.random)
        self.clients[index].claim = self.database.claim(
            self.clients[index].key, user: self.clients[index].user)
        self.count("resumed")
    }

    private mutating func received(_ result: CommitResult) {
        guard let index = self.clients.firstIndex(where: { $0.key == StreamKey(result.room, result.session) }) else {
            self.failures.append("a result of an unknown session")
            return
        }
        if let refusal = result.refusal {
            self.count(refusal.code.name)
            if refusal.code == .conflict, refusal.field == "n" { return }
            if refusal.code.isRetriable { return }
        }
        let number = result.number
        if let first = self.clients[index].results[number] {
            if first.seq != result.seq || first.refusal != result.refusal {
                self.failures.append("\(result.session) \(number) got another result")
            }
            self.count("same again")
        }
        // An old claim's answer is news all the same: it is in the database.
        self.clients[index].results[number] = self.clients[index].results[number] ?? result
        while self.clients[index].results[self.clients[index].settled + 1] != nil { self.clients[index].settled += 1 }
    }

    private mutating func publish(_ update: Update) {
        if self.published.updateValue(update, forKey: update.gseq) != nil {
            self.failures.append("update \(update.gseq) was published twice")
        }
    }

    // MARK: The network and the database

    private mutating func deliver(faults: Bool = true) {
        guard !self.network.isEmpty else { return }
        let position = Int.random(in: 0..<min(4, self.network.count), using: &self.random)
        let (committer, commit) = self.network.remove(at: position)
        if faults, self.random.chance(10) { return }
        self.perform(committer) { $0.commitReceived(commit, size: 100, at: $1, into: &$2) }
    }

    private mutating func answer(faults: Bool = true) {
        guard !self.requests.isEmpty else { return }
        let request = self.requests.remove(at: Int.random(in: self.requests.indices, using: &self.random))
        let index = request.committer
        guard let lane = request.lane else {
            // A left-over of a lost connection: carried out late, or never.
            if case .write(_, let batch) = request.action, self.random.chance(70) {
                if self.database.write(batch) == .written { self.count("written late") }
            }
            return
        }
        if faults, self.random.chance(3) {
            self.count("transient")
            return self.perform(index) { $0.requestFailed(lane: lane, .transient, at: $1, into: &$2) }
        }
        switch request.action {
        case .load(_, let load):
            let state = self.database.load(load)
            self.perform(index) { committer, now, _ in committer.stateLoaded(lane: lane, state, at: now) }
        case .write(_, let batch):
            let written = self.database.write(batch)
            if faults, self.random.chance(6) {
                self.count(written == .written ? "lost written" : "lost unwritten")
                let isDown = self.random.chance(80)
                return self.perform(index) { committer, now, actions in
                    committer.requestFailed(lane: lane, .lost, at: now, into: &actions)
                    if isDown { committer.connectionDown(lane: lane, at: now, into: &actions) }
                }
            }
            self.count("\(written)")
            self.perform(index) { committer, now, actions in
                switch written {
                case .written: committer.batchWritten(lane: lane, isStale: false, at: now, into: &actions)
                case .stale: committer.batchWritten(lane: lane, isStale: true, at: now, into: &actions)
                case .refusedData: committer.requestFailed(lane: lane, .data, at: now, into: &actions)
                }
            }
        case .result, .publish, .traced: break
        }
    }

    /// The request of a lane that is gone may still be carried out.
    private mutating func abandon(_ index: Int, _ lane: Int) {
        for position in self.requests.indices
        where self.requests[position].committer == index && self.requests[position].lane == lane {
            self.requests[position].lane = nil
        }
    }

    private mutating func breakConnection() {
        let index = Int.random(in: self.committers.indices, using: &self.random)
        let isOutage = self.random.chance(10)
        for lane in isOutage ? 0..<self.lanes : self.lanes - 1..<self.lanes {
            self.abandon(index, lane)
            self.perform(index) { $0.connectionDown(lane: lane, at: $1, into: &$2) }
        }
        guard isOutage else { return }
        for _ in 0..<3 {
            self.deliver()
            self.now += 200
            self.tick()
        }
    }

    private mutating func repair() {
        for index in self.committers.indices {
            for lane in 0..<self.lanes
            where !self.requests.contains(where: { $0.committer == index && $0.lane == lane }) {
                self.perform(index) { committer, _, _ in committer.connectionUp(lane: lane) }
            }
        }
    }

    private mutating func tick() {
        for index in self.committers.indices {
            self.perform(index) { $0.timeReached($1, into: &$2) }
        }
    }

    private mutating func count(_ what: String) { self.seen[what, default: 0] += 1 }
}
