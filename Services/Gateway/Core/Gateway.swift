package import Auth
import DequeModule
import JSONBytes
package import Wire

/// What the gateway decides, from apps' events to actions; one value for all connections of one process.
///
///     app event ──► parse and check ──► preview ──► coalescer
///                                  ├──► commit ───► custody ──► coalescer (again, the other way, until a result)
///                                  └──► join ─────► fan-out
///     fan-out ────► room views ──────► members        committer ──► result ──► custody ──► app
///
/// Every event takes the time (`now`, ms of a monotonic clock) and appends what is to be done to `actions`, which the
/// shell performs afterwards, in order, and empties. It keeps no truth about rooms: only who listens, up to where each
/// room's stream was delivered, and the commits in its custody.
package struct Gateway {
    /// What is to be done; the shell performs it in order and empties it.
    package var actions: [GatewayAction] = []
    /// Figures for the operator, but those that ``custody`` counts.
    var tally = GatewayCounters()

    let name: Identifier
    let limits: Limits
    let tokens: TokenVerifier?
    var connections: [ClientConnection?] = []
    /// The id of the connection in each slot, 0 when there is none: to look at it does not take the connection along.
    var connectionIDs: [UInt64] = []
    var freeSlots: [Slot] = []
    /// Where each connection is, by its id.
    var slots: [UInt64: Slot] = [:]
    var rooms: [Identifier: RoomView] = [:]
    var joins: [UInt64: JoinInFlight] = [:]
    var custody: Custody
    /// Joins that wait for their turn, by request, in order.
    var queuedJoins: Deque<UInt64> = []
    var joinBucket: TokenBucket
    var recent = RecentAcknowledgements()
    package internal(set) var paces: RoomPaces
    /// Previews of this gateway's members that wait for their room's pace before they are sent on.
    var unsent = WaitingRooms()
    /// Previews that wait to be delivered, and how many more members this turn may deliver to.
    package internal(set) var waiting = WaitingRooms()
    var allowance: Int
    /// HTTP reads that wait for the fan-out, with their deadlines, ms.
    var reads: [UInt64: (room: Identifier, deadline: UInt64)] = [:]
    /// Connections with a held preview or a delayed commit.
    var restless: Set<Slot> = []
    var orphans: [OrphanedGesture] = []
    var document = JSONDocument()
    var editReading: EditReading
    private var nextConnection: UInt64
    private var nextRequest: UInt64 = 0

    /// How often held previews and delayed commits are looked at, ms.
    static let tickMs: UInt64 = 16
    /// How long the gesture of a connection that vanished stays open, ms.
    static let orphanMs: UInt64 = 2000

    /// A gateway without connections.
    /// - Parameters:
    ///   - name: its mesh name, which commits carry so that results find back.
    ///   - connectionPrefix: tells this process's connections from all others'; random at each start.
    ///   - limits: what apps may ask.
    ///   - seed: for the ids of elements that apps create without one; random at each start.
    ///   - tokens: nil in open mode.
    package init(
        name: Identifier, connectionPrefix: UInt32, seed: UInt64, limits: Limits, tokens: TokenVerifier?
    ) {
        self.name = name
        self.limits = limits
        self.editReading = EditReading(largestGroup: limits.group, seed: seed)
        self.tokens = tokens
        self.custody = Custody(limits: limits)
        self.joinBucket = TokenBucket(capacity: limits.joinsPerSecond, perSecond: limits.joinsPerSecond, now: 0)
        self.paces = RoomPaces(lateMs: limits.lateMs, calmMs: limits.calmMs)
        self.allowance = limits.previewWrites
        self.nextConnection = UInt64(connectionPrefix) << 32
    }

    /// How many apps are connected.
    package var connectionCount: Int { self.connections.count - self.freeSlots.count }

    /// Figures for the operator.
    package var counters: GatewayCounters {
        var counters = self.tally
        counters.commits = self.custody.acceptedTotal
        counters.resent = self.custody.resentTotal
        counters.held = self.custody.heldTotal
        return counters
    }

    /// How many commits wait for a result.
    package var custodyCount: Int { self.custody.count }

    /// Bytes of these commits, and of those that wait for a rate limit.
    package var custodyBytes: Int { self.custody.bytes }

    /// How many commits wait for credit.
    package var heldCount: Int { self.custody.heldCount }

    /// How long the oldest commit in custody has waited, ms.
    package func oldestCustody(at now: UInt64) -> UInt64 { self.custody.oldestAge(at: now) }

    /// How many joins wait for an answer.
    package var joinCount: Int { self.joins.count }

    /// How many of them wait for their turn.
    package var queuedJoinCount: Int { self.queuedJoins.count }

    /// How many HTTP reads wait for an answer.
    package var readCount: Int { self.reads.count }

    mutating func newConnectionID() -> UInt64 {
        self.nextConnection &+= 1
        return self.nextConnection
    }

    mutating func newRequest() -> UInt64 {
        self.nextRequest += 1
        return self.nextRequest
    }

    /// True while the connection of that id is in the slot, and not another one that came after it.
    func isHere(_ connection: UInt64, in slot: Slot) -> Bool {
        self.connectionIDs[slot] == connection
    }

    /// The slot of a connection if it is this gateway's and still there.
    func slot(of connection: UInt64, in room: RoomView) -> Slot? {
        guard let slot = self.slots[connection] else { return nil }
        return room.members.contains(slot) || room.legacyMembers.contains(slot) ? slot : nil
    }

    // MARK: Answers

    /// Answers an event with a refusal: as its acknowledgement, or as `transform:error`.
    mutating func refuse(
        _ refusal: Refusal, slot: Slot, ackID: UInt64?, event: String, room: Identifier? = nil,
        element: Identifier? = nil, number: UInt64? = nil
    ) {
        self.tally.refused += 1
        if let ackID {
            self.actions.append(.acknowledge(slot, id: ackID, json: EventText.refused(refusal)))
        } else {
            let json = EventText.transformError(refusal, event: event, room: room, element: element, number: number)
            self.actions.append(.emit(slot, json: json))
        }
    }
}

/// Figures that only grow.
package struct GatewayCounters: Equatable, Sendable {
    /// Events from apps.
    package var events: UInt64 = 0
    /// Previews from apps.
    package var previewsIn: UInt64 = 0
    /// Previews handed to coalescers.
    package var previewsSent: UInt64 = 0
    /// Previews folded by a rate limit or a pending commit.
    package var previewsHeld: UInt64 = 0
    /// Commits taken into custody.
    package var commits: UInt64 = 0
    /// Commits sent again.
    package var resent: UInt64 = 0
    /// Commits acknowledged.
    package var acknowledged: UInt64 = 0
    /// Events refused.
    package var refused: UInt64 = 0
    /// Commits, joins and reads refused because too many waited.
    package var busy: UInt64 = 0
    /// Commits that had to wait for credit.
    package var held: UInt64 = 0
    /// Previews dropped because too many elements were in one connection's hands.
    package var previewsDropped: UInt64 = 0
    /// Updates delivered to rooms.
    package var updates: UInt64 = 0
    /// Holes found in rooms' streams.
    package var holes: UInt64 = 0
    /// Rooms whose members had to join again.
    package var resyncs: UInt64 = 0
    /// Members that had to join again because they read too slowly.
    package var fallenBehind: UInt64 = 0

    /// All zero.
    package init() {}
}

extension Gateway {
    /// A refusal as an acknowledgement: `{"ok":false,"error":{…}}`.
    package static func refusalText(_ refusal: Refusal) -> [UInt8] {
        EventText.refused(refusal)
    }

    /// A refusal as the event `transform:error`.
    package static func refusalEvent(_ refusal: Refusal) -> [UInt8] {
        EventText.transformError(refusal, event: "", room: nil, element: nil, number: nil)
    }
}
