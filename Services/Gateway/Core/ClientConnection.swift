import DequeModule
import Wire

/// One app's connection: who it is, its rooms, its rate limits.
struct ClientConnection {
    /// Unique over all gateways, never reused.
    let id: UInt64
    var identity: Identity
    /// True for an app that named its room at the handshake and never sent `room:join`: it gets the events of the 1.0
    /// contract only.
    var isLegacy: Bool
    /// False when it wants no previews in any room.
    let wantsPreviews: Bool
    var memberships = Memberships()
    var previewBucket: TokenBucket
    var commitBucket: TokenBucket
    /// Commits without a number that wait for the rate limit, in order.
    var delayed: Deque<AcceptedCommit> = []
    /// When a refusal of a preview was last told, by code, ms.
    var toldAt: [RefusalCode: UInt64] = [:]
    /// True once the app was warned that its token ends soon.
    var wasWarned = false
    /// Joins without an answer.
    var openJoins = 0
    /// Bytes of the events that wait for joins.
    var waitingBytes = 0
    /// True once it is about to be closed: no more commits are taken.
    var isLeaving = false

    /// Bytes of events that may wait for joins.
    static let maxWaitingBytes = 1 << 20
    /// True while a commit of it has no result.
    var owesResults: Bool {
        !self.delayed.isEmpty || self.memberships.values.contains { $0.unacknowledged > 0 }
    }
}

/// A checked commit of an app, before it has a number.
struct AcceptedCommit {
    let room: Identifier
    let ackID: UInt64?
    let event: String
    let edit: EncodedEdit
    /// The gestures that it ended when it came.
    let gestures: ShortList<EndedGesture>
}

/// A connection's place in one room.
struct Membership {
    /// An event that came while the join was under way.
    struct Waiting {
        let ackID: UInt64?
        let json: [UInt8]
    }

    /// True until the fan-out has answered the first join.
    var isJoining = true
    /// Events of this room that came while joining, in order; handled when the answer is there.
    var waiting: [Waiting] = []
    var wantsPreviews: Bool
    var sid: Identifier = ""
    /// The stream of commits that the gateway numbers: `sid` and `claim`.
    var ownStream: Identifier = ""
    var claim: UInt32 = 0
    /// False when another connection took the session over.
    var ownsSession = true
    /// The last number that the gateway gave in its own stream of this session.
    var lastNumber: UInt64 = 0
    /// The highest gesture seen or given.
    var lastGesture: UInt64 = 0
    /// Commits of this membership without a result.
    var unacknowledged = 0
    /// What this connection does with the room's elements.
    var elements: [Identifier: ElementTrack] = [:]
    /// Updates up to this number are in the join's answer already.
    var floor: UInt64 = 0

    /// Events that may wait for a join.
    static let maxWaiting = 64
    /// Elements that are remembered; beyond it those at rest are forgotten.
    static let maxTracks = 256
    /// Elements that may be in hand at once; previews of further ones are dropped.
    static let maxOpenTracks = 1024

    /// Begins a session, or goes on with one as its newest owner.
    mutating func take(_ joined: JoinReply.Joined) {
        self.sid = joined.sid
        self.ownStream = SessionKey.gateway(sid: joined.sid, claim: joined.claim)
        self.claim = joined.claim
        self.ownsSession = true
        self.lastNumber = 0
        self.lastGesture = GestureNumbers.base(claim: joined.claim)
        self.elements = [:]
    }

    /// Forgets elements at rest when there are too many.
    mutating func trimTracks() {
        guard self.elements.count > Self.maxTracks else { return }
        self.elements = self.elements.filter { !$0.value.isAtRest }
    }
}

/// What a connection does with one element.
struct ElementTrack {
    /// The gesture that is under way; nil between gestures.
    var openGesture: UInt64?
    /// Transform commits on the element without a result: newer previews wait for them.
    var pendingCommits = 0
    /// The sequence number of the connection's last commit on the element; 0: none.
    var lastSeq: UInt64 = 0
    /// A preview that is held back, by a pending commit or by the rate limit.
    var held: Preview?

    var isAtRest: Bool { self.openGesture == nil && self.pendingCommits == 0 && self.held == nil }
}

/// What the gateway knows of a room that has members here. No truth: only who listens, and how far the stream came.
struct RoomView {
    /// Up to where the stream was delivered.
    var position: Position
    /// Who speaks the full contract.
    var members: [Slot] = []
    /// Who speaks the 1.0 contract.
    var legacyMembers: [Slot] = []
    /// Who of both wants previews.
    var previewMembers: [Slot] = []
    /// True while a hole in the stream is being filled.
    var isCatchingUp = false
    /// True while some member's join is ahead of the stream, so that floors must be looked at.
    var hasFloors = false

    var isEmpty: Bool { self.members.isEmpty && self.legacyMembers.isEmpty }
    var all: [Slot] { self.members + self.legacyMembers }

    mutating func add(_ slot: Slot, isLegacy: Bool, wantsPreviews: Bool) {
        self.remove(slot)
        if isLegacy {
            self.legacyMembers.append(slot)
        } else {
            self.members.append(slot)
        }
        if wantsPreviews { self.previewMembers.append(slot) }
    }

    mutating func remove(_ slot: Slot) {
        self.members.removeAll { $0 == slot }
        self.legacyMembers.removeAll { $0 == slot }
        self.previewMembers.removeAll { $0 == slot }
    }

    /// What an update is to the stream, and to whom it goes.
    enum Step {
        /// It was delivered already.
        case old
        /// There is a hole before it.
        case ahead
        /// It is the next one, which the stream has now taken.
        case next(members: [Slot], legacyMembers: [Slot], hasFloors: Bool)
    }

    /// Takes the next update of the stream.
    mutating func take(_ seq: UInt64) -> Step {
        if seq <= self.position.seq { return .old }
        guard seq == self.position.seq + 1 else { return .ahead }
        self.position.seq = seq
        return .next(members: self.members, legacyMembers: self.legacyMembers, hasFloors: self.hasFloors)
    }
}

/// A join that waits for the fan-out.
struct JoinInFlight {
    let slot: Slot
    /// The connection's id, since slots are reused.
    let connection: UInt64
    let ackID: UInt64?
    var join: Join
    let wantsPreviews: Bool
    let deadline: UInt64
    /// When it was last sent, ms; `.max` while it waits for its turn.
    var sentAt: UInt64
}

/// A gesture of a connection that vanished; it ends after a moment unless its session comes back.
struct OrphanedGesture {
    let end: GestureEnd
    /// True when the app numbers its gestures, so that a new owner of the session may go on with it.
    let mayContinue: Bool
    let endsAt: UInt64
}
