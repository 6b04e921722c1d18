package import Canvas
import JSONBytes
package import Wire

package enum ElementState: Equatable, Sendable {
    /// The id was never used.
    case absent
    case live(LiveElement)
    /// It was deleted; its id is not reused.
    case deleted(RecentAuthors)
}

package struct ChangeMark: Equatable, Sendable {
    package var user: Identifier
    /// The room's number of it.
    package var seq: UInt64

    package init(user: Identifier, seq: UInt64) {
        self.user = user
        self.seq = seq
    }
}

/// The last change of an element, and the last one by anybody else: whoever asks, it is known when others last changed it.
package struct RecentAuthors: Equatable, Sendable {
    /// The last change; that of a deleted element may have the number of its deletion.
    package var last: ChangeMark
    /// The last change by another user than that of ``last``; nil: there was none.
    package var other: ChangeMark?

    package init(last: ChangeMark, other: ChangeMark? = nil) {
        self.last = last
        self.other = other
    }

    func followed(by change: ChangeMark) -> RecentAuthors {
        RecentAuthors(last: change, other: self.lastChange(byOtherThan: change.user))
    }

    /// The last change by anybody but that user.
    func lastChange(byOtherThan user: Identifier) -> ChangeMark? {
        self.last.user == user ? self.other : self.last
    }
}

/// An existing element. Shared and immutable: a shard's caches, drafts and batches pass it on several times for each
/// commit, and copying an element retains a dozen references.
package final class LiveElement: Sendable {
    package let element: Element
    /// Its JSON text, as in acknowledgements, updates and the log.
    package let json: [UInt8]
    /// Its living children; nil when they were not read.
    package let children: [Identifier]?
    /// The users that changed it last.
    package let authors: RecentAuthors

    package init(element: Element, json: [UInt8], children: [Identifier]?, authors: RecentAuthors) {
        self.element = element
        self.json = json
        self.children = children
        self.authors = authors
    }

    func with(children: [Identifier]) -> LiveElement {
        LiveElement(element: self.element, json: self.json, children: children, authors: self.authors)
    }
}

extension LiveElement {
    convenience init(_ element: Element, children: [Identifier]?, authors: RecentAuthors) {
        var writer = JSONWriter(reserving: 384)
        element.encode(into: &writer)
        self.init(element: element, json: writer.bytes, children: children, authors: authors)
    }
}

extension LiveElement: Equatable {
    package static func == (left: LiveElement, right: LiveElement) -> Bool {
        left === right
            || left.element == right.element && left.json == right.json && left.children == right.children
                && left.authors == right.authors
    }
}

package struct StreamState: Equatable, Sendable {
    package var user: Identifier
    /// The highest number with a final outcome.
    package var highest: UInt64
    package var sessionEpoch: UInt32

    package init(user: Identifier, highest: UInt64, sessionEpoch: UInt32) {
        self.user = user
        self.highest = highest
        self.sessionEpoch = sessionEpoch
    }
}

package struct StoredRoom: Equatable, Sendable {
    /// Its last number; 0 for a room that was never used.
    package var seq: UInt64
    package var totals: RoomTotals

    /// A room; by default one that was never used.
    package init(seq: UInt64 = 0, totals: RoomTotals = RoomTotals()) {
        self.seq = seq
        self.totals = totals
    }
}

/// The outcome of an earlier commit, which a repetition gets again.
package struct StoredOutcome: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        case applied(AppliedOutcome)
        case unapplied(ShardBatch.RefusalRow.Outcome)
    }

    let ending: Ending
    /// The hash of the commit's body.
    let hash: UInt64

    package init(_ ending: Ending, hash: UInt64) {
        self.ending = ending
        self.hash = hash
    }
}

package struct ElementNeed: Hashable, Sendable {
    package var key: ElementKey
    /// True when its living children are needed too.
    package var family: Bool
}

package struct StreamNeed: Hashable, Sendable {
    package var key: StreamKey
    package var user: Identifier
}

/// An entry of a stack to be read, and more of the stack with it.
package struct UndoEntryNeed: Hashable, Sendable {
    package var key: UndoEntryKey
    /// As long as fewer rows were read, and less than 256 KiB, the entry below is read as well; 0: none is.
    package var ahead: UInt64
}

/// A ledger's read request to the database.
package struct LoadRequest: Equatable, Sendable {
    /// The shard, whose version and last number are always read.
    package var shard: Int
    package var rooms: [Identifier] = []
    package var streams: [StreamNeed] = []
    /// Elements, each with its children if `family` is set.
    package var elements: [ElementNeed] = []
    /// Elements whose number of living annotations is needed.
    package var annotations: [ElementKey] = []
    /// Commits whose stored outcome is needed, if they have one.
    package var outcomes: [CommitKey] = []
    /// Users whose stacks are needed.
    package var users: [UserKey] = []
    /// Entries of stacks whose rows are needed.
    package var entries: [UndoEntryNeed] = []

    package init(shard: Int) {
        self.shard = shard
    }

    package var isEmpty: Bool {
        self.rooms.isEmpty && self.streams.isEmpty && self.elements.isEmpty && self.outcomes.isEmpty
            && self.users.isEmpty && self.entries.isEmpty && self.annotations.isEmpty
    }
}

/// The database's answer to a ``LoadRequest``: one snapshot. Requested items that it does not contain do not exist.
package struct LoadedState: Equatable, Sendable {
    package struct ElementRow: Equatable, Sendable {
        package var key: ElementKey
        package var state: ElementState

        package init(key: ElementKey, state: ElementState) {
            self.key = key
            self.state = state
        }
    }

    /// The number of writes of the shard.
    package var version: UInt64
    package var gseq: UInt64
    /// The shard's chain; 0: none yet.
    package var chain: UInt64
    /// Sessions whose name sorts before it and that have no row have ended.
    package var sessionFloor: Identifier = ""
    package var rooms: [Identifier: StoredRoom] = [:]
    package var streams: [StreamKey: StreamState] = [:]
    /// The requested streams whose session was evicted.
    package var evicted: Set<StreamKey> = []
    /// The elements that exist or existed, including the requested children.
    package var elements: [ElementRow] = []
    /// The number of living annotations of each requested element.
    package var annotations: [ElementKey: Int] = [:]
    /// Those that are still kept.
    package var outcomes: [CommitKey: StoredOutcome] = [:]
    /// The stacks of the users that have any.
    package var users: [UserKey: UndoStacks] = [:]
    /// The rows of the entries that the log still has, the newest first; also of entries that were read ahead.
    package var entries: [UndoEntryKey: [UndoRow]] = [:]

    package init(version: UInt64, gseq: UInt64, chain: UInt64 = 0) {
        self.version = version
        self.gseq = gseq
        self.chain = chain
    }
}
