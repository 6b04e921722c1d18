package import Canvas
package import Wire

/// What is known of an element.
package enum ElementState: Equatable, Sendable {
    /// No element ever had the id.
    case absent
    /// It lives.
    case live(LiveElement)
    /// It was deleted; its id is not used again.
    case deleted
}

/// An element as it stands. It is shared, never changed: caches, drafts and batches of a shard pass it on many times for
/// each commit, and an element has a dozen counted references.
package final class LiveElement: Sendable {
    /// The element.
    package let element: Element
    /// Its JSON text: what acknowledgements, updates and the log carry.
    package let json: [UInt8]
    /// The elements that hang on it, perhaps some deleted ones; nil when that was not read.
    package let children: [Identifier]?

    /// An element as it stands.
    package init(element: Element, json: [UInt8], children: [Identifier]?) {
        self.element = element
        self.json = json
        self.children = children
    }

    /// The same element with one more that hangs on it, if it is known what does.
    func adding(child: Identifier) -> LiveElement {
        LiveElement(element: self.element, json: self.json, children: self.children.map { $0 + [child] })
    }
}

extension LiveElement: Equatable {
    package static func == (left: LiveElement, right: LiveElement) -> Bool {
        left === right
            || left.element == right.element && left.json == right.json && left.children == right.children
    }
}

/// What is known of a numbered stream of commits.
package struct StreamState: Equatable, Sendable {
    /// Whose it is.
    package var user: Identifier
    /// The highest number that has its final outcome.
    package var highest: UInt64
    /// The newest owner.
    package var claim: UInt32

    /// A stream.
    package init(user: Identifier, highest: UInt64, claim: UInt32) {
        self.user = user
        self.highest = highest
        self.claim = claim
    }
}

/// The outcome of an earlier commit, as the database has it.
package enum StoredOutcome: Equatable, Sendable {
    /// It was applied. `before` and `after` are JSON texts, empty where the log has none.
    case applied(seq: UInt64, event: UpdateEvent, hash: UInt64, before: [UInt8], after: [UInt8])
    /// It was refused for good.
    case refused(Refusal, hash: UInt64)
    /// It was refused for good so long ago that the reason is no longer kept.
    case forgotten
}

/// An element that is to be read.
package struct ElementNeed: Hashable, Sendable {
    /// Which.
    package var key: ElementKey
    /// True when the living elements that hang on it are needed too.
    package var family: Bool

    /// A need of an element.
    package init(key: ElementKey, family: Bool) {
        self.key = key
        self.family = family
    }
}

/// What a ledger asks of the database.
package struct LoadRequest: Equatable, Sendable {
    /// The shard, whose version and last number are always read.
    package var shard: Int
    /// Rooms whose last number is needed.
    package var rooms: [Identifier] = []
    /// Streams of commits.
    package var streams: [StreamKey] = []
    /// Elements, each with what hangs on it when `family` says so.
    package var elements: [ElementNeed] = []
    /// Commits whose stored outcome is needed, if they have one.
    package var outcomes: [CommitKey] = []

    /// A request that asks for nothing but the shard.
    package init(shard: Int) {
        self.shard = shard
    }

    /// True when nothing is needed.
    package var isEmpty: Bool {
        self.rooms.isEmpty && self.streams.isEmpty && self.elements.isEmpty && self.outcomes.isEmpty
    }
}

/// The database's answer to a ``LoadRequest``: one snapshot. What was asked for and is not in it does not exist.
package struct LoadedState: Equatable, Sendable {
    /// An element's row.
    package struct ElementRow: Equatable, Sendable {
        /// Which.
        package var key: ElementKey
        /// Nil when it is deleted.
        package var element: Element?

        /// An element's row.
        package init(key: ElementKey, element: Element?) {
            self.key = key
            self.element = element
        }
    }

    /// How often the shard was written.
    package var version: UInt64
    /// The last number in the shard's order.
    package var gseq: UInt64
    /// The shard's chain; 0: none yet.
    package var chain: UInt64
    /// Sessions whose name sorts before it and that do not exist have ended.
    package var sessionFloor: Identifier = ""
    /// The last number of each room that has one.
    package var rooms: [Identifier: UInt64] = [:]
    /// The streams that exist.
    package var streams: [StreamKey: StreamState] = [:]
    /// The elements that exist or existed, those that hang on the ones asked for included.
    package var elements: [ElementRow] = []
    /// The outcomes that are kept.
    package var outcomes: [CommitKey: StoredOutcome] = [:]

    /// A shard about which nothing else was asked.
    package init(version: UInt64, gseq: UInt64, chain: UInt64 = 0) {
        self.version = version
        self.gseq = gseq
        self.chain = chain
    }
}
