package import Timing
package import Trust

/// The peers of a bound link: routing ids, hellos, liveness. A plain value.
///
/// Routing ids are untrusted bytes; they are found by a seeded hash and compared bytewise.
package struct PeerRoster {
    /// The key by which a peer proved who it is.
    package struct Credential: Equatable, Sendable {
        package let key: PublicKey
        /// The roles in which it may use its name here.
        package var roles: PeerRoles
        /// The key's text, which libzmq attaches to every message of the connection.
        let userID: [UInt8]

        package init(key: PublicKey, roles: PeerRoles) {
            self.key = key
            self.roles = roles
            self.userID = Array(key.description.utf8)
        }
    }

    package struct Peer {
        package let id: PeerID
        package let routingID: [UInt8]
        package let hello: Hello
        /// Its key; nil on a link without CURVE.
        package var credential: Credential?
        /// The connection's descriptor in libzmq, −1 if unknown.
        package let descriptor: Int32
        package var liveness: LivenessMachine
        /// Its connection closed at this time; it is removed when everything it had sent is read.
        package var disconnectedAt: Instant?
        /// True when a send was rejected at its high-water mark and its user waits for `writable`.
        package var isBlocked = false
    }

    package enum Admission: Equatable {
        /// Admitted; the listed peers were replaced by it.
        case admitted(PeerID, replaced: [PeerID])
        case full
        /// A live peer of the same name and role has another key, or is a later connection of the same link.
        case taken
    }

    /// The maximum wait after a disconnect until the socket has been read empty.
    private static let disconnectGrace = Nanoseconds.milliseconds(250)

    private var slots: [Peer?] = []
    private var free: [Int] = []
    private var byRoutingID: [UInt64: Int] = [:]
    private var byDescriptor: [Int32: Int] = [:]
    /// Disconnects of connections whose descriptor was reused before the event was read.
    private var staleDisconnects: [Int32: Int] = [:]
    private var serial: UInt64 = 0
    private var nextCheck = Instant.never
    package private(set) var blockedCount = 0
    private var leavingCount = 0
    private let maximum: Int
    private let settings: LivenessSettings
    private let seed: UInt64

    /// An empty roster; the seed makes its hash unpredictable.
    package init(maximum: Int, settings: LivenessSettings, seed: UInt64) {
        self.maximum = maximum
        self.settings = settings
        self.seed = seed
    }

    package var count: Int { self.slots.count - self.free.count }
    package var ids: [PeerID] { self.slots.compactMap { $0?.id } }

    /// The next time that any peer's liveness must be checked.
    package var deadline: Instant? { self.count == 0 ? nil : self.nextCheck }

    package subscript(_ id: PeerID) -> Peer? {
        let slot = Int(id.slot)
        guard slot < self.slots.count, let peer = self.slots[slot], peer.id == id else { return nil }
        return peer
    }

    package func find(_ routingID: UnsafeRawBufferPointer) -> PeerID? {
        guard let slot = self.byRoutingID[self.hash(routingID)], let peer = self.slots[slot],
            peer.routingID.elementsEqual(routingID)
        else { return nil }
        return peer.id
    }

    /// Admits a peer. It replaces older connections of the same link, and one with the same routing id or descriptor.
    package mutating func admit(
        _ hello: Hello, routingID: UnsafeRawBufferPointer, descriptor: Int32, credential: Credential? = nil,
        at now: Instant
    ) -> Admission {
        if let credential, self.isTaken(hello, routingID, credential) { return .taken }
        var replaced: [PeerID] = []
        for case let peer? in self.slots {
            let isSameLink = peer.hello.instance == hello.instance && peer.hello.name == hello.name
            if isSameLink || peer.routingID.elementsEqual(routingID)
                || (descriptor >= 0 && peer.descriptor == descriptor)
            {
                replaced.append(peer.id)
            }
        }
        let key = self.hash(routingID)
        let collides = self.byRoutingID[key].flatMap { self.slots[$0] }.map { !$0.routingID.elementsEqual(routingID) }
        guard collides != true, self.count - replaced.count < self.maximum else { return .full }
        for id in replaced {
            if descriptor >= 0, let peer = self[id], peer.descriptor == descriptor, peer.disconnectedAt == nil {
                self.staleDisconnects[descriptor, default: 0] += 1
            }
            self.remove(id)
        }
        let slot = self.free.popLast() ?? self.slots.count
        if slot == self.slots.count { self.slots.append(nil) }
        self.serial += 1
        let id = PeerID(slot: UInt32(truncatingIfNeeded: slot), serial: self.serial)
        let liveness = LivenessMachine(self.settings, now: now)
        self.slots[slot] = Peer(
            id: id, routingID: [UInt8](routingID), hello: hello, credential: credential, descriptor: descriptor,
            liveness: liveness)
        self.byRoutingID[key] = slot
        if descriptor >= 0 { self.byDescriptor[descriptor] = slot }
        self.nextCheck = min(self.nextCheck, liveness.deadline)
        return .admitted(id, replaced: replaced)
    }

    /// A name belongs to the key that uses it for as long as that connection lives, and to the latest connection of a
    /// link.
    private func isTaken(_ hello: Hello, _ routingID: UnsafeRawBufferPointer, _ credential: Credential) -> Bool {
        for case let peer? in self.slots where peer.hello.name == hello.name && peer.disconnectedAt == nil {
            guard let other = peer.credential, !other.roles.isDisjoint(with: credential.roles) else { continue }
            if other.key != credential.key { return true }
            if peer.hello.instance == hello.instance, peer.hello.incarnation >= hello.incarnation,
                !peer.routingID.elementsEqual(routingID)
            {
                return true
            }
        }
        return false
    }

    /// Records the roles in which a peer may use its name from now on.
    package mutating func setRoles(of id: PeerID, _ roles: PeerRoles) {
        guard self[id] != nil else { return }
        self.slots[Int(id.slot)]?.credential?.roles = roles
    }

    @discardableResult
    package mutating func remove(_ id: PeerID) -> Bool {
        guard let peer = self[id] else { return false }
        let slot = Int(id.slot)
        peer.routingID.withUnsafeBytes { bytes in _ = self.byRoutingID.removeValue(forKey: self.hash(bytes)) }
        if self.byDescriptor[peer.descriptor] == slot { self.byDescriptor[peer.descriptor] = nil }
        if peer.isBlocked { self.blockedCount -= 1 }
        if peer.disconnectedAt != nil { self.leavingCount -= 1 }
        self.slots[slot] = nil
        self.free.append(slot)
        return true
    }

    /// Any message arrived from the peer.
    package mutating func heard(_ id: PeerID, at now: Instant) {
        guard self[id] != nil else { return }
        self.slots[Int(id.slot)]?.liveness.heard(at: now)
    }

    /// Any message was sent to the peer.
    package mutating func sent(_ id: PeerID, at now: Instant) {
        guard self[id] != nil else { return }
        self.slots[Int(id.slot)]?.liveness.sent(at: now)
    }

    /// libzmq closed the connection with this descriptor.
    package mutating func disconnected(descriptor: Int32, at now: Instant) {
        if let stale = self.staleDisconnects[descriptor] {
            self.staleDisconnects[descriptor] = stale > 1 ? stale - 1 : nil
            return
        }
        guard let slot = self.byDescriptor.removeValue(forKey: descriptor), self.slots[slot]?.disconnectedAt == nil
        else { return }
        self.slots[slot]?.disconnectedAt = now
        self.leavingCount += 1
        self.nextCheck = min(self.nextCheck, now + PeerRoster.disconnectGrace)
    }

    // MARK: Waiting for room

    /// A send to the peer was rejected at the high-water mark.
    package mutating func block(_ id: PeerID) {
        guard let peer = self[id], !peer.isBlocked else { return }
        self.slots[Int(id.slot)]?.isBlocked = true
        self.blockedCount += 1
    }

    /// Unblocks all peers and returns those that were blocked.
    package mutating func unblockAll() -> [PeerID] {
        guard self.blockedCount > 0 else { return [] }
        self.blockedCount = 0
        var ids: [PeerID] = []
        for slot in self.slots.indices where self.slots[slot]?.isBlocked == true {
            self.slots[slot]?.isBlocked = false
            if let id = self.slots[slot]?.id { ids.append(id) }
        }
        return ids
    }

    // MARK: Time

    /// The peers to which a beat is due now. Call `sent` for each.
    package mutating func beatsDue(at now: Instant) -> [PeerID] {
        guard now >= self.nextCheck else { return [] }
        return self.slots.compactMap { peer in
            guard let peer, peer.disconnectedAt == nil, peer.liveness.due(at: now) == .beat else { return nil }
            return peer.id
        }
    }

    /// True when `readingEnded` may remove peers.
    package func hasVerdicts(at now: Instant) -> Bool {
        self.leavingCount > 0 || (self.count > 0 && now >= self.nextCheck)
    }

    /// Removes the peers that are gone, once the socket was read as far as this round goes.
    /// - Parameter isEmpty: true when nothing is left to read.
    /// - Returns: the removed peers, each with its reason.
    package mutating func readingEnded(isEmpty: Bool, at now: Instant) -> [(PeerID, LinkLoss)] {
        guard now >= self.nextCheck || (isEmpty && self.leavingCount > 0) else { return [] }
        var gone: [(PeerID, LinkLoss)] = []
        var next = Instant.never
        for case let peer? in self.slots {
            if let since = peer.disconnectedAt {
                let end = since + PeerRoster.disconnectGrace
                if isEmpty || now >= end { gone.append((peer.id, .disconnected)) } else { next = min(next, end) }
            } else if peer.liveness.isSilent(at: now) {
                gone.append((peer.id, .silent))
            } else {
                next = min(next, peer.liveness.deadline)
            }
        }
        for (id, _) in gone { self.remove(id) }
        self.nextCheck = next
        return gone
    }

    private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = 0xcbf2_9ce4_8422_2325 ^ self.seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash ^ (hash >> 32)
    }
}

/// A peer of a `ServerLink`, from its `peerUp` to its `peerDown`. Never reused: a peer that comes back gets another
/// one.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// Its slot among the link's peers; reused by later peers.
    package let slot: UInt32
    /// Its number among all peers of the link; never reused.
    package let serial: UInt64

    package init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }

    package var description: String { "peer-\(self.serial)" }
}
