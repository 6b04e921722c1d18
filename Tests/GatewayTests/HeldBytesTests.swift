import Testing
import Wire

@testable import GatewayCore

/// What is kept for apps, as it counts towards the memory budget.
@Suite struct HeldBytesTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func theBytesOfAConnectionAreTheSumOfItsPartsWhateverHappens(seed: UInt64) throws {
        var walk = try Walk(seed: seed)
        for _ in 0..<3000 {
            try walk.step()
            try walk.check()
        }
        // It went through what it is about.
        #expect(walk.most.tracks > 30 && walk.most.held > 5 && walk.most.waiting > 0 && walk.most.selected > 0)
        try walk.leaveAllRooms()
        for slot in walk.slots {
            let bytes = walk.scene.gateway.relay.heldBytes(for: slot)
            #expect(bytes == 0)
        }
    }

    @Test func nothingIsKeptForAConnectionThatIsGone() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let resting = scene.gateway.relay.heldBytes(for: ada)
        #expect(resting == 0)
        for element in 1...300 {
            scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e\#(element)","positionX":1}"#)
        }
        // 256 are free, and above the rate previews are held back.
        let moving = scene.gateway.relay.heldBytes(for: ada)
        let held = 300 - scene.take().previews.count
        let tracks = 44 * ElementTrack.bytes + 300 * ElementTrack.gestureBytes
        #expect(held > 0 && moving == tracks + held * ElementTrack.previewBytes)
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        let left = scene.gateway.relay.heldBytes(for: ada)
        #expect(left == 0)
        let next = try scene.connect("ben")
        let new = scene.gateway.relay.heldBytes(for: next)
        #expect(next == ada && new == 0)
    }
}

/// Three apps that do anything in three rooms, and a fan-out and a committer that answer now and then.
private struct Walk {
    var scene: Scene
    var random: SplitMix64
    var slots: [Slot] = []
    /// The most that was kept of each kind at a time.
    var most = (tracks: 0, held: 0, waiting: 0, selected: 0)
    private var joins: [Join] = []
    private var commits: [Commit] = []
    /// Numbers sessions, claims, updates and apps.
    private var number: UInt32 = 0

    private static let rooms = ["r0", "r1", "r2"]

    init(seed: UInt64) throws {
        var limits = GatewayLimits()
        limits.previewsPerSecond = 10
        limits.connectionJoinsPerSecond = 10_000
        self.scene = Scene(limits: limits)
        self.random = SplitMix64(seed: seed)
        for user in ["ada", "ben", "cid"] { self.slots.append(try self.scene.connect(user)) }
    }

    private mutating func any(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.random) }

    mutating func step() throws {
        let index = self.any(self.slots.count)
        let slot = self.slots[index]
        let room = Self.rooms[self.any(Self.rooms.count)]
        switch self.any(30) {
        case 0: self.scene.send(slot, "room:join", #"{"roomId":"\#(room)"}"#, ack: 0)
        case 1...3: self.answerJoins()
        case 4: if self.any(3) == 0 { self.scene.send(slot, "room:leave", #"{"roomId":"\#(room)"}"#) }
        case 5: self.scene.send(slot, "selection:set", #"{"roomId":"\#(room)","elementIds":[\#(self.ids())]}"#)
        case 6: self.scene.send(slot, "cursor:moving", #"{"roomId":"\#(room)","x":1,"y":2}"#)
        case 7:
            let view = #"{"roomId":"\#(room)","x":0,"y":0,"width":100,"height":100}"#
            self.scene.send(slot, "viewport:set", view)
        case 8...10:
            let group = #"{"roomId":"\#(room)","elements":[\#(self.ids())],"pivot":{"x":0,"y":0},"rotation":5}"#
            self.scene.send(slot, "elements:gesturing", group)
        case 11...14: self.scene.send(slot, "element:transform", self.transform(room, "30"))
        // A commit that cannot be read ends its gesture.
        case 15: self.scene.send(slot, "element:transform", self.transform(room, "\"x\""))
        case 16...18: self.answerCommits()
        case 19: self.scene.advance(UInt64(self.any(200)))
        case 20: if self.any(4) == 0 { try self.reconnect(index) }
        default:
            let move = #"{"roomId":"\#(room)","elementId":"e\#(self.any(400))","positionX":1}"#
            self.scene.send(slot, "element:transforming", move)
        }
        self.collect()
    }

    private mutating func ids() -> String {
        Set((0...self.any(20)).map { _ in self.any(400) }).map { #""e\#($0)""# }.joined(separator: ",")
    }

    private mutating func transform(_ room: String, _ rotation: String) -> String {
        #"{"roomId":"\#(room)","elementId":"e\#(self.any(400))","transform":{"rotation":\#(rotation)}}"#
    }

    private mutating func collect() {
        let actions = self.scene.take()
        self.joins += actions.joins
        self.commits += actions.commits
    }

    /// Some are refused; others get a session, a new one or that of the room once more.
    private mutating func answerJoins() {
        for join in exchange(&self.joins, with: []) {
            self.number += 1
            let sid = self.any(3) == 0 ? "s\(self.number)" : "s-\(join.connection)-\(join.room)"
            var reply = self.scene.answer(to: join, sid: Identifier(sid), sessionEpoch: self.number)
            if self.any(5) == 0 { reply.outcome = .failure(Refusal(.busy, "Too many joins.", retryAfterMs: 1)) }
            self.scene.gateway.joinAnswered(reply, at: self.scene.moment, seconds: 0, into: &self.scene.actions)
        }
    }

    private mutating func answerCommits() {
        for commit in exchange(&self.commits, with: []) {
            self.number += 1
            self.scene.gateway.resultReceived(
                result(of: commit, seq: UInt64(self.number)), at: self.scene.moment, into: &self.scene.actions)
        }
    }

    private mutating func reconnect(_ index: Int) throws {
        self.number += 1
        self.scene.gateway.disconnected(self.slots[index], at: self.scene.moment, into: &self.scene.actions)
        let left = self.scene.gateway.relay.heldBytes(for: self.slots[index])
        #expect(left == 0)
        self.slots[index] = try self.scene.connect("user-\(self.number)")
    }

    /// Joins are answered first: a leave waits behind them.
    mutating func leaveAllRooms() throws {
        repeat {
            self.answerJoins()
            self.scene.advance(20)
            self.collect()
        } while !self.joins.isEmpty
        for slot in self.slots {
            for room in Self.rooms { self.scene.send(slot, "room:leave", #"{"roomId":"\#(room)"}"#) }
        }
    }

    /// Looks through all that is kept for each connection.
    mutating func check() throws {
        for slot in self.slots {
            let connection = try #require(self.scene.gateway.relay.connections.bySlot[slot])
            var sum = 0
            for membership in connection.memberships.entries { sum += self.look(through: membership) }
            #expect(connection.memberships.bytes == sum)
        }
    }

    private mutating func look(through membership: Membership) -> Int {
        let tracks = membership.elements.count
        let held = membership.elements.values.count { $0.held != nil }
        let open = membership.elements.values.count { $0.openGesture != nil }
        let selected = membership.shownAwareness.bytes
        var waiting = membership.waiting.cursor?.count ?? 0
        for event in membership.waiting.events {
            waiting += WaitingEvents.eventBytes
            if case .event(let json, _, _) = event { waiting += json.count }
        }
        self.most.tracks = max(self.most.tracks, tracks)
        self.most.held = max(self.most.held, held)
        self.most.waiting = max(self.most.waiting, waiting)
        self.most.selected = max(self.most.selected, selected)
        let moving = open * ElementTrack.gestureBytes + held * ElementTrack.previewBytes
        return tracks * ElementTrack.bytes + moving + selected + waiting
    }
}
