internal import Boot
internal import Logging
package import Mesh
package import Wire

/// The dialled links to all instances of one stage. It follows the stage's set: a link to each instance that comes, none
/// any more to one that was removed.
///
/// Instances are identified by their numbers in the set. All decisions are made by values, such as ``StageRoutes``; this
/// class only carries events in and envelopes out.
package final class StageLinks {
    /// What happened on one of the links.
    package enum Event {
        /// The instance is in the set from now on, under this name.
        case added(Int, name: String)
        /// It is not in the set any more; the last event of it, after `down`.
        case removed(Int)
        /// The instance came up and greeted with these bytes.
        case up(Int, greeting: [UInt8], isResting: Bool)
        /// It went down, or is about to be removed.
        case down(Int)
        /// It began or ceased to rest.
        case resting(Int, Bool)
        /// It accepts messages again after `wouldBlock`.
        case writable(Int)
        /// It sent an envelope, valid during the call.
        case envelope(Int, UnsafeRawBufferPointer)
    }

    /// The stage at the other end.
    package var stage: Stage { self.set.stage }
    private let set: StageSet
    /// The version of the set to which there are links.
    private var version: Int?
    private var links = PeerTable<Int, PeerLink>()
    private let thread: ReactorThread
    private let identity: LinkIdentity
    private let options: LinkOptions
    /// Of links that were closed.
    private var formerReconnects: UInt64 = 0

    /// Links that are opened with the first ``read(_:)``.
    /// - Throws: ``MeshError`` for a bad endpoint.
    package init(
        on thread: ReactorThread, to set: StageSet, identity: LinkIdentity, options: LinkOptions = LinkOptions()
    ) throws(MeshError) {
        self.thread = thread
        self.set = set
        self.identity = identity
        self.options = options
        for member in set.current.members { _ = try Endpoint(member.address.endpoint) }
    }

    /// How many times links were reopened.
    package var reconnects: UInt64 { self.links.all.reduce(self.formerReconnects) { $0 &+ $1.counters.reconnects } }

    /// Sends one envelope to an instance. One that was removed is `unroutable`.
    package func send(_ envelope: [UInt8], to instance: Int) -> SendResult {
        self.links[instance]?.send(envelope) ?? .unroutable
    }

    /// Follows the set, and reads the links' events.
    package func read(_ act: (Event) -> Void) {
        self.followSet(act)
        for instance in self.links.peers { self.read(instance, act) }
    }

    private func read(_ instance: Int, _ act: (Event) -> Void) {
        guard let link = self.links[instance] else { return }
        while let event = link.next() {
            switch event {
            case .up(let hello): act(.up(instance, greeting: hello.greeting, isResting: link.isResting))
            case .down: act(.down(instance))
            case .resting(let isResting): act(.resting(instance, isResting))
            case .writable: act(.writable(instance))
            case .message: link.incoming.withBytes(at: 0) { act(.envelope(instance, $0)) }
            }
        }
    }

    // MARK: The set

    private func followSet(_ act: (Event) -> Void) {
        let (members, version) = self.set.current
        guard version != self.version else { return }
        self.version = version
        let wanted = Set(members.map(\.number))
        for instance in self.links.peers where !wanted.contains(instance) { self.remove(instance, act) }
        for member in members where !self.links.contains(member.number) { self.add(member, act) }
    }

    /// What has arrived counts. What it was sent and has not answered is lost with the link, as if it were gone: senders
    /// resend it elsewhere.
    private func remove(_ instance: Int, _ act: (Event) -> Void) {
        self.read(instance, act)
        guard let link = self.links[instance] else { return }
        self.links[instance] = nil
        self.formerReconnects &+= link.counters.reconnects
        link.close()
        act(.down(instance))
        act(.removed(instance))
    }

    private func add(_ member: StageSet.Member, _ act: (Event) -> Void) {
        do throws(MeshError) {
            self.links[member.number] = try PeerLink(
                on: self.thread, to: Endpoint(member.address.endpoint),
                expecting: ExpectedPeer(self.stage.role, member.address.name), identity: self.identity,
                options: self.options)
        } catch {
            return self.thread.logger.error(
                "an instance cannot be dialled", metadata: ["mesh.peer": "\(member.address)", "error": "\(error)"])
        }
        act(.added(member.number, name: member.address.name))
    }
}

extension LinkIdentity {
    /// The identity of a daemon's link.
    /// - Parameter credit: the initial credit of each sender on a link that accepts commits, part of its greeting.
    package init(daemon name: String, credit: CommitCredit? = nil) {
        self.init(name: name, versions: Self.versions, greeting: credit.map(\.greeting) ?? [])
    }

    /// The versions of all links.
    static let versions = UInt16(WireVersions.spoken.lowerBound)...UInt16(WireVersions.spoken.upperBound)
}
