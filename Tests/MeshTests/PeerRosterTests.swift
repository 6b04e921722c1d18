import Testing
import Timing
import TimingTestKit
import Trust
import Wire

@testable import Mesh

struct PeerRosterTests {
    private let start = Instant.start + 100 * second

    private func hello(_ name: String, instance: UInt64) -> Hello {
        Hello(LinkIdentity(name: name, versions: version...version), instance: instance, incarnation: 0)
    }

    private func admit(
        _ roster: inout PeerRoster, _ id: String, instance: UInt64, descriptor: Int32 = -1, at now: Instant? = nil
    ) -> PeerRoster.Admission {
        let hello = self.hello("peer", instance: instance)
        return Array(id.utf8).withUnsafeBytes {
            roster.admit(hello, routingID: $0, descriptor: descriptor, at: now ?? self.start)
        }
    }

    private func find(_ roster: PeerRoster, _ id: String) -> PeerID? {
        Array(id.utf8).withUnsafeBytes { roster.find($0) }
    }

    private func roster(_ maximum: Int = 10) -> PeerRoster {
        PeerRoster(maximum: maximum, settings: LivenessSettings(), seed: 42)
    }

    private func admitted(_ admission: PeerRoster.Admission) throws -> PeerID {
        guard case .admitted(let id, _) = admission else { throw Timeout(description: "not admitted") }
        return id
    }

    @Test func comesIsFoundAndGoes() throws {
        var roster = self.roster()
        let first = try self.admitted(self.admit(&roster, "a", instance: 1))
        let second = try self.admitted(self.admit(&roster, "b", instance: 2))
        #expect(self.find(roster, "a") == first)
        #expect(self.find(roster, "b") == second)
        #expect(self.find(roster, "c") == nil)
        #expect(roster.ids == [first, second])
        #expect(roster[first]?.hello.instance == 1)
        roster.remove(first)
        #expect(roster[first] == nil)
        #expect(self.find(roster, "a") == nil)
        // The place is used again, the id is not.
        let third = try self.admitted(self.admit(&roster, "a", instance: 3))
        #expect(third != first)
        #expect(roster[first] == nil)
        #expect(roster.count == 2)
    }

    @Test func theSameLinkOrRoutingIDReplaces() throws {
        var roster = self.roster(2)
        let old = try self.admitted(self.admit(&roster, "a", instance: 1))
        let other = try self.admitted(self.admit(&roster, "b", instance: 2))
        guard case .admitted(let new, let replaced) = self.admit(&roster, "c", instance: 1) else {
            throw Timeout(description: "full although it takes over a place")
        }
        #expect(replaced == [old])
        guard case .admitted(_, let again) = self.admit(&roster, "b", instance: 9) else {
            throw Timeout(description: "full although it takes over a place")
        }
        #expect(again == [other])
        #expect(self.admit(&roster, "d", instance: 10) == .full)
        #expect(roster[new] != nil)
        #expect(roster.count == 2)
    }

    @Test func beatsAndSilence() throws {
        var roster = self.roster()
        let quiet = try self.admitted(self.admit(&roster, "a", instance: 1))
        let busy = try self.admitted(self.admit(&roster, "b", instance: 2))
        #expect(roster.deadline == self.start + second)
        #expect(roster.beatsDue(at: self.start + second - 1).isEmpty)
        #expect(roster.beatsDue(at: self.start + second) == [quiet, busy])
        roster.sent(quiet, at: self.start + second)
        roster.sent(busy, at: self.start + second)
        #expect(roster.beatsDue(at: self.start + second).isEmpty)
        #expect(roster.readingEnded(isEmpty: true, at: self.start + second).isEmpty)
        #expect(roster.deadline == self.start + 2 * second)
        roster.heard(busy, at: self.start + 2400 * millisecond)
        let gone = roster.readingEnded(isEmpty: false, at: self.start + 2500 * millisecond)
        #expect(gone.map(\.0) == [quiet] && gone.map(\.1) == [.silent])
        #expect(roster.ids == [busy])
    }

    @Test func aDisconnectedPeerGoesWhenAllIsRead() throws {
        var roster = self.roster()
        let peer = try self.admitted(self.admit(&roster, "a", instance: 1, descriptor: 20))
        roster.disconnected(descriptor: 21, at: self.start)
        #expect(!roster.hasVerdicts(at: self.start))
        roster.disconnected(descriptor: 20, at: self.start)
        #expect(roster.hasVerdicts(at: self.start))
        #expect(roster.readingEnded(isEmpty: false, at: self.start).isEmpty)
        let gone = roster.readingEnded(isEmpty: true, at: self.start)
        #expect(gone.map(\.0) == [peer] && gone.map(\.1) == [.disconnected])
        #expect(roster.count == 0)
        #expect(roster.deadline == nil)
        // A socket that is never read empty does not keep it for ever.
        let next = try self.admitted(self.admit(&roster, "b", instance: 2, descriptor: 20))
        roster.disconnected(descriptor: 20, at: self.start)
        #expect(roster.readingEnded(isEmpty: false, at: self.start + 249 * millisecond).isEmpty)
        #expect(roster.readingEnded(isEmpty: false, at: self.start + 250 * millisecond).map(\.0) == [next])
    }

    @Test func aDescriptorUsedAgainDoesNotCostTheNewPeer() throws {
        var roster = self.roster()
        let old = try self.admitted(self.admit(&roster, "a", instance: 1, descriptor: 20))
        // The old connection closed, its descriptor was used again, and the new peer's hello was read before the news.
        guard case .admitted(let new, let replaced) = self.admit(&roster, "b", instance: 2, descriptor: 20) else {
            throw Timeout(description: "not admitted")
        }
        #expect(replaced == [old])
        roster.disconnected(descriptor: 20, at: self.start)
        #expect(!roster.hasVerdicts(at: self.start))
        roster.disconnected(descriptor: 20, at: self.start)
        #expect(roster.readingEnded(isEmpty: true, at: self.start).map(\.0) == [new])
    }

    @Test func blockedPeersAreNamedOnce() throws {
        var roster = self.roster()
        let first = try self.admitted(self.admit(&roster, "a", instance: 1))
        let second = try self.admitted(self.admit(&roster, "b", instance: 2))
        roster.block(first)
        roster.block(first)
        roster.block(second)
        #expect(roster.blockedCount == 2)
        roster.remove(second)
        #expect(roster.unblockAll() == [first])
        #expect(roster.unblockAll().isEmpty)
    }

    @Test func seededWalkKeepsItsBooks() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var roster = self.roster(8)
        var now = self.start
        var alive: [PeerID: String] = [:]
        for step in 0..<5000 {
            now += UInt64.random(in: 0...300, using: &random) * millisecond
            let name = "r\(Int.random(in: 0..<12, using: &random))"
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let admission = self.admit(
                    &roster, name, instance: .random(in: 0..<12, using: &random),
                    descriptor: .random(in: 0..<12, using: &random), at: now)
                if case .admitted(let id, let replaced) = admission {
                    for old in replaced { #expect(alive.removeValue(forKey: old) != nil, "seed \(seed) step \(step)") }
                    alive[id] = name
                }
            case 1: if let id = self.find(roster, name) { roster.heard(id, at: now) }
            case 2: roster.disconnected(descriptor: .random(in: 0..<12, using: &random), at: now)
            case 3:
                if let id = alive.keys.randomElement(using: &random) {
                    roster.remove(id)
                    alive[id] = nil
                }
            default:
                for (id, _) in roster.readingEnded(isEmpty: .random(using: &random), at: now) {
                    #expect(alive.removeValue(forKey: id) != nil, "seed \(seed) step \(step)")
                }
            }
            #expect(Set(roster.ids) == Set(alive.keys) && roster.count <= 8, "seed \(seed) step \(step)")
            for (id, name) in alive { #expect(self.find(roster, name) == id, "seed \(seed) step \(step)") }
        }
    }

    // MARK: Keys

    private func admit(
        _ roster: inout PeerRoster, _ id: String, _ key: PublicKey, instance: UInt64 = 1, incarnation: UInt32 = 0,
        role: PeerRole = .gateway
    ) -> PeerRoster.Admission {
        let hello = Hello(
            LinkIdentity(name: "peer", versions: version...version), instance: instance, incarnation: incarnation)
        let credential = PeerRoster.Credential(key: key, roles: PeerRoles(role))
        return Array(id.utf8).withUnsafeBytes {
            roster.admit(hello, routingID: $0, descriptor: -1, credential: credential, at: self.start)
        }
    }

    @Test func aNameBelongsToTheKeyThatUsesIt() throws {
        var roster = self.roster()
        let (key, other) = (KeyPair().publicKey, KeyPair().publicKey)
        let first = try self.admitted(self.admit(&roster, "a", key))
        #expect(self.admit(&roster, "b", other, instance: 2) == .taken)
        // The same key may come again: its daemon was restarted, or its link was opened again.
        _ = try self.admitted(self.admit(&roster, "c", key, instance: 2))
        guard case .admitted(_, let replaced) = self.admit(&roster, "d", key, incarnation: 1) else {
            throw Timeout(description: "a newer connection of the link is not admitted")
        }
        #expect(replaced == [first])
        // In another role the name is somebody else's.
        _ = try self.admitted(self.admit(&roster, "e", other, instance: 3, role: .coalescer))
    }

    @Test func anOlderConnectionDoesNotReplaceANewerOne() throws {
        var roster = self.roster()
        let key = KeyPair().publicKey
        _ = try self.admitted(self.admit(&roster, "a", key, incarnation: 5))
        #expect(self.admit(&roster, "b", key, incarnation: 4) == .taken)
        #expect(self.admit(&roster, "b", key, incarnation: 5) == .taken)
        _ = try self.admitted(self.admit(&roster, "b", key, incarnation: 6))
    }
}
