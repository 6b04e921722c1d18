import Canvas
import FanoutCore
import Testing
import Timing
import Wire

/// A gateway as the fan-out sees it: per room a position, holes reported with a `RoomInterest`.
struct GatewayModel {
    let id: GatewayID
    var isUp = true
    var positions: [Identifier: UInt64] = [:]
    var members: [Identifier: Set<UInt64>] = [:]
    /// What a gateway that lost its place is waiting for.
    var isCatchingUp: Set<Identifier> = []
    /// The elements as the members see them.
    var state: [Identifier: [Identifier: [UInt8]]] = [:]
    var closed: [String: UInt64] = [:]
}

@Suite struct RandomWalkTests {
    /// Everything that happens in one walk.
    struct Walk {
        var scene: Scene
        var random: SplitMix64
        var gateways = [GatewayModel(id: Scene.g1), GatewayModel(id: Scene.g2)]
        var inFlight: [Update] = []
        var late: [Update] = []
        var connection: UInt64 = 0
        var requests: [UInt64: (gateway: Int, connection: UInt64)] = [:]
        var request: UInt64 = 0
        var gesture: UInt64 = 0
        var deleted: [String: Int] = [:]
        var failures: [String] = []
        var deliveries = 0
        var resets = 0
        var replays = 0
        let rooms: [Identifier] = ["r", StreamTests.neighbour(of: "r"), "third"]

        init(seed: UInt64) {
            var limits = FanoutLimits()
            limits.replay = 12
            limits.keptUpdates = 6
            limits.logPage = 4
            limits.catchUp = 20
            limits.roomIdle = .milliseconds(700)
            self.scene = Scene(limits: limits)
            self.random = SplitMix64(seed: seed)
        }

        mutating func step() {
            let room = self.rooms[Int.random(in: 0..<self.rooms.count, using: &self.random)]
            let index = Int.random(in: 0..<2, using: &self.random)
            switch Int.random(in: 0..<100, using: &self.random) {
            case 0..<30: self.commit(room)
            case 30..<55: self.deliver()
            case 55..<65: self.answerOne()
            case 65..<72: self.join(room, at: index)
            case 72..<76: self.leave(room, at: index)
            case 76..<86: self.preview(room, at: index)
            case 86..<88: self.bounce(index)
            case 88..<89: self.scene.database.pruned[room] = self.scene.database.logs[room]?.count ?? 0
            default: self.scene.pass(UInt64.random(in: 1...60, using: &self.random))
            }
            self.read()
        }

        /// One of three elements; a deleted one's id is never used again.
        mutating func element(of room: Identifier) -> Identifier {
            let slot = Int.random(in: 0..<3, using: &self.random)
            return Identifier("e\(slot)-\(self.deleted["\(room) e\(slot)"] ?? 0)")
        }

        mutating func commit(_ room: Identifier) {
            let element = self.element(of: room)
            self.gesture += 1
            let isDeleted = Int.random(in: 0..<6, using: &self.random) == 0
            if isDeleted { self.deleted["\(room) \(element.text.prefix(2))", default: 0] += 1 }
            let more = #","v":\#(self.gesture)"#
            let update = self.scene.database.commit(
                room, [(element, isDeleted ? nil : Scene.element(element, more: more))],
                event: isDeleted ? .deleted : .transformed, sid: "s", gesture: self.gesture)
            self.inFlight.append(update)
        }

        /// Publications are lost, doubled and put out of order.
        mutating func deliver() {
            guard !self.inFlight.isEmpty else { return }
            let index = Int.random(in: 0..<min(3, self.inFlight.count), using: &self.random)
            let update = self.inFlight[index]
            switch Int.random(in: 0..<10, using: &self.random) {
            case 0..<2: self.inFlight.remove(at: index)
            case 2:
                self.scene.receive(update)
                self.late.append(update)
            default:
                self.inFlight.remove(at: index)
                self.scene.receive(update)
            }
            if let old = self.late.last, Int.random(in: 0..<10, using: &self.random) == 0 {
                self.late.removeLast()
                self.scene.receive(old)
            }
        }

        mutating func answerOne() {
            let asked = self.scene.asked()
            guard !asked.isEmpty else { return }
            let index = Int.random(in: 0..<asked.count, using: &self.random)
            if Int.random(in: 0..<12, using: &self.random) == 0 {
                self.scene.answer(index, with: .failed)
            } else {
                self.scene.answer(index, with: self.scene.database.answer(asked[index]))
            }
        }

        mutating func join(_ room: Identifier, at index: Int) {
            guard self.gateways[index].isUp else { return }
            self.connection += 1
            self.request += 1
            self.requests[self.request] = (index, self.connection)
            var resume: Position?
            if Bool.random(using: &self.random), let seq = self.gateways[index].positions[room] {
                resume = Position(epoch: "epoch-1", seq: seq)
            }
            self.scene.send(
                Join(
                    request: self.request, room: room, connection: self.connection, member: .named("ann"),
                    resume: resume), from: self.gateways[index].id)
        }

        mutating func leave(_ room: Identifier, at index: Int) {
            guard self.gateways[index].isUp, let connection = self.gateways[index].members[room]?.first else { return }
            self.gateways[index].members[room]?.remove(connection)
            if self.gateways[index].members[room]?.isEmpty == true { self.forget(room, at: index) }
            self.scene.leave(connection, at: self.gateways[index].id, room: room)
        }

        mutating func forget(_ room: Identifier, at index: Int) {
            self.gateways[index].positions[room] = nil
            self.gateways[index].state[room] = nil
            self.gateways[index].isCatchingUp.remove(room)
        }

        mutating func preview(_ room: Identifier, at index: Int) {
            let element = self.element(of: room)
            let gesture = UInt64.random(in: 1...(self.gesture + 2), using: &self.random)
            self.scene.preview(.by("s", 1_000_000, room: room, element: element, gesture: gesture))
        }

        mutating func bounce(_ index: Int) {
            if self.gateways[index].isUp {
                self.gateways[index].isUp = false
                self.scene.fanout.linkDown(to: self.gateways[index].id, at: self.scene.now)
                return
            }
            self.comeBack(index)
        }

        /// The gateway comes back, restarted or not, and says what it needs.
        mutating func comeBack(_ index: Int) {
            self.gateways[index].isUp = true
            self.scene.fanout.linkUp(to: self.gateways[index].id, at: self.scene.now)
            if Bool.random(using: &self.random) {
                self.gateways[index] = GatewayModel(id: self.gateways[index].id)
                return
            }
            for room in self.rooms where self.gateways[index].positions[room] != nil { self.ask(room, index) }
        }

        mutating func ask(_ room: Identifier, _ index: Int) {
            self.gateways[index].isCatchingUp.insert(room)
            let members = (self.gateways[index].members[room] ?? []).sorted().map { ("ann", $0) }
            self.scene.interest(
                members, seq: self.gateways[index].positions[room] ?? 0, at: self.gateways[index].id, room: room)
        }

        // MARK: What gateways get

        mutating func read() {
            for action in self.scene.take() {
                switch action {
                case .send(let record, let gateway):
                    if let index = self.gateways.firstIndex(where: { $0.id == gateway }) { self.take(record, index) }
                case .broadcast(let record, let to, let except):
                    for index in self.gateways.indices
                    where to.contains(self.gateways[index].id) && self.gateways[index].id != except {
                        self.take(record, index)
                    }
                case .read:
                    break
                }
            }
        }

        mutating func take(_ record: GatewayRecord, _ index: Int) {
            guard self.gateways[index].isUp else {
                self.failures.append("a gateway that is down got \(record)")
                return
            }
            switch record {
            case .update(let update): self.take(update, index)
            case .joinReply(let reply): self.take(reply, index)
            case .roomPosition(let answer): self.take(answer, index)
            case .preview(let preview):
                let key = "\(preview.room) \(preview.element) \(preview.sid)"
                if let closed = self.gateways[index].closed[key], preview.gesture <= closed {
                    self.failures.append("\(key): a preview of gesture \(preview.gesture) after \(closed)")
                }
                guard let position = self.gateways[index].positions[preview.room] else { return }
                if preview.after > position { self.failures.append("a preview ahead of its update") }
            default: break
            }
        }

        mutating func take(_ update: Update, _ index: Int) {
            guard let position = self.gateways[index].positions[update.room], update.seq > position else { return }
            guard update.seq == position + 1 else {
                // While it catches up, only what it missed may come; otherwise a hole is the fan-out's fault.
                self.failures.append("\(update.room): \(update.seq) after \(position) at gateway \(index + 1)")
                return
            }
            self.deliveries += 1
            self.gateways[index].positions[update.room] = update.seq
            self.apply(update, index)
        }

        mutating func apply(_ update: Update, _ index: Int) {
            for element in update.elements {
                self.gateways[index].state[update.room, default: [:]][element.id] =
                    element.json.isEmpty ? nil : element.json
                if element.json.isEmpty { continue }
                let key = "\(update.room) \(element.id) \(update.sid)"
                self.gateways[index].closed[key] = max(self.gateways[index].closed[key] ?? 0, element.gesture)
            }
        }

        mutating func take(_ reply: JoinReply, _ index: Int) {
            guard let waiting = self.requests.removeValue(forKey: reply.request), waiting.gateway == index,
                case .success(let joined) = reply.outcome
            else { return }
            self.gateways[index].members[reply.room, default: []].insert(waiting.connection)
            if let position = self.gateways[index].positions[reply.room] {
                if position > joined.position.seq { self.failures.append("an answer from behind the stream") }
                if position < joined.position.seq, !self.gateways[index].isCatchingUp.contains(reply.room) {
                    self.failures.append("an answer ahead of the stream: \(joined.position.seq) at \(position)")
                }
            }
            let expected = self.scene.database.snapshot(of: reply.room, at: joined.position.seq)
            switch joined.content {
            case .elements(let json):
                let all = expected.elements.map { String(decoding: $0.json, as: UTF8.self) }
                let text = String(decoding: json, as: UTF8.self)
                if text.utf8.count != "[\(all.joined(separator: ","))]".utf8.count
                    || !all.allSatisfy({ text.contains($0) })
                {
                    self.failures.append("a wrong snapshot at \(joined.position.seq)")
                }
            case .updates(let updates):
                self.replays += 1
                let to = joined.position.seq
                let all = self.scene.database.logs[reply.room] ?? []
                if updates != all.filter({ $0.seq > to - UInt64(updates.count) && $0.seq <= to }) {
                    self.failures.append("a wrong replay")
                }
            }
            if self.gateways[index].positions[reply.room] == nil {
                self.start(reply.room, at: joined.position.seq, index)
            }
        }

        mutating func start(_ room: Identifier, at seq: UInt64, _ index: Int) {
            self.gateways[index].positions[room] = seq
            self.gateways[index].state[room] = [:]
            for element in self.scene.database.snapshot(of: room, at: seq).elements {
                self.gateways[index].state[room]?[element.id] = element.json
            }
        }

        mutating func take(_ answer: RoomPosition, _ index: Int) {
            guard let position = self.gateways[index].positions[answer.room] else { return }
            self.gateways[index].isCatchingUp.remove(answer.room)
            if answer.isReset {
                self.resets += 1
                self.start(answer.room, at: answer.position.seq, index)
            } else if answer.position.seq != position {
                self.failures.append("position \(answer.position.seq) at \(position)")
            }
        }

        /// Everything heals: nothing is lost any more, all questions are answered.
        mutating func heal() {
            for index in self.gateways.indices where !self.gateways[index].isUp { self.comeBack(index) }
            self.read()
            for _ in 0..<40 {
                self.scene.pass(60)
                self.scene.answer()
                self.read()
            }
            for index in self.gateways.indices {
                for (room, position) in self.gateways[index].positions {
                    let all = self.scene.database.snapshot(of: room)
                    if position != all.seq {
                        self.failures.append("\(room): gateway \(index + 1) stands at \(position) of \(all.seq)")
                    }
                    let state = Dictionary(all.elements.map { ($0.id, $0.json) }) { $1 }
                    if self.gateways[index].state[room] != state { self.failures.append("\(room): another state") }
                }
            }
            if self.scene.fanout.waitingCount > 0 { self.failures.append("joins that wait for ever") }
        }
    }

    @Test func everyGatewaySeesEveryRoomWithoutAHole() {
        let base = UInt64.random(in: 0...(.max))
        var deliveries = 0
        var resets = 0
        var replays = 0
        var counters = FanoutCounters()
        for offset in UInt64(0)..<300 {
            let seed = base &+ offset
            var walk = Walk(seed: seed)
            for _ in 0..<400 where walk.failures.isEmpty { walk.step() }
            if walk.failures.isEmpty { walk.heal() }
            #expect(walk.failures == [], "seed \(seed)")
            if !walk.failures.isEmpty { return }
            deliveries += walk.deliveries
            resets += walk.resets
            replays += walk.replays
            counters.holes += walk.scene.fanout.counters.holes
            counters.rebases += walk.scene.fanout.counters.rebases
            counters.previewsPassed += walk.scene.fanout.counters.previewsPassed
        }
        // A walk in which nothing happens proves nothing.
        #expect(deliveries > 1000 && resets > 0 && replays > 0)
        #expect(counters.holes > 100 && counters.rebases > 0 && counters.previewsPassed > 100)
    }
}

extension DatabaseModel {
    /// The room as it was at a number.
    func snapshot(of room: Identifier, at seq: UInt64) -> RoomSnapshot {
        var past = self
        past.logs[room] = (self.logs[room] ?? []).filter { $0.seq <= seq }
        return past.snapshot(of: room)
    }
}
