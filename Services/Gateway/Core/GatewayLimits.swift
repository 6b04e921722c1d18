internal import Canvas
package import JSONBytes
package import Timing

/// What apps may ask of a gateway, each figure a setting; a join's answer carries those of one app as `limits`.
package struct GatewayLimits: Equatable, Sendable {
    /// The largest message, bytes; announced as Engine.IO's `maxPayload`.
    package var messageBytes = 256 * 1024
    /// Nesting of JSON values.
    package var depth = 32
    /// Members of one JSON object.
    package var keys = 96
    /// Elements of one JSON array.
    package var arrayElements = 1000
    /// Elements of one `elements:create`.
    package var group = 500
    /// Rooms of one connection.
    package var rooms = 64
    /// Joins per second and connection; four times as many as it may have rooms may come together after a pause.
    package var connectionJoinsPerSecond = 16
    /// Connections of one user to this gateway.
    package var connectionsOfUser = 64
    /// Commits of one session without a result.
    package var unacknowledged = 32
    /// Commits of one connection that wait for their turn: the gateway numbers them, so it may delay them.
    package var waitingCommits = 256
    /// Commits of a room and connection that may be without a result when one goes that the gateway numbers: none, for it
    /// could overtake them, and what is overtaken is stale.
    package var aheadOfUnnumbered = 0
    /// Previews per second and connection; beyond it they are folded, the newest is never lost.
    package var previewsPerSecond = 120
    /// Commits per second and connection.
    package var commitsPerSecond = 30
    /// Commits that may come together after a pause.
    package var commitBurst = 120
    /// Commits per second of one user, over all its connections and HTTP; at least those of one connection.
    package var userCommitsPerSecond = 120
    /// Commits of one user that may come together after a pause; likewise.
    package var userCommitBurst = 480
    /// Requests over HTTP per second of one user.
    package var userRequestsPerSecond = 100
    /// Requests of one user that may come together after a pause.
    package var userRequestBurst = 400
    /// Refused CONNECT packets and `auth:refresh` events of one connection, after which it is closed.
    package var refusedTokens = 10
    /// Tokens of one connection that are checked per second, and five times as many together after a pause.
    package var tokenChecksPerSecond = 2
    /// The same for all connections and requests of one address.
    package var addressTokenChecksPerSecond = 50
    /// Updates that a resumed join replays at most; further back it gets the whole room.
    package var replay = 1000
    /// Elements in a room. Committers enforce these four; the gateway only tells apps.
    package var roomElements = 10_000
    /// Bytes of a room's elements as stored.
    package var roomBytes = 16 << 20
    package var elementAnnotations = 1000
    /// The length of a picture, see ``Canvas/CanvasLimits/pictureBytes``.
    package var pictureBytes = 128 << 10
    /// How long a commit or a join may wait for its result.
    package var deadline = Nanoseconds.seconds(10)
    /// The pace of previews when all is well, which apps read as `throttleMs`; and the longest time between two writes of a
    /// room's previews to its members as long as no room is slowed down.
    package var throttle = Nanoseconds.milliseconds(16)
    /// Rooms are slowed down when previews leave later than this on average.
    package var late = Nanoseconds.milliseconds(8)
    /// How long all must be well before they speed up again.
    package var calm = Nanoseconds.seconds(1)
    /// Members that previews are delivered to in one turn; the others get theirs with the next ones.
    package var previewWrites = 128

    /// Commits of all apps without a result, those included that wait for a rate limit; one more is refused as busy.
    package var inFlightCommits = 32_768
    /// Bytes of such commits.
    package var inFlightBytes = 64 << 20
    /// Joins of all apps that may wait for their answer; one more is refused as busy.
    package var joinsWaiting = 20_000
    /// Joins per second that go to fan-outs, and as many together after a pause; the rest wait for their turn.
    package var joinsPerSecond = 2000
    /// An answer above that many bytes is a large one: its bytes are reserved before it is made, and a room comes in parts of
    /// at most that size to apps that ask for parts.
    package var snapshotPart = 256 * 1024
    /// Bytes of the answers to joins and reads that apps have not read yet; beyond it others wait for half a second, then
    /// those that hardly read are closed.
    package var answerBytes = 32 << 20
    /// Bytes of those of one user.
    package var userAnswerBytes = 8 << 20
    /// Joins of one user that are under way at once, and as many reads over HTTP; others wait for these.
    package var userReads = 4
    /// How many may wait for these, of each kind; one more is refused as busy.
    package var userReadsWaiting = 256
    /// Reads of rooms over HTTP that may wait for their answer; one more is refused as busy.
    package var readsWaiting = 1000
    /// The share of commits that are traced although their app does not say so, 0 to 1.
    package var traceShare = 0.001
    /// Commits that are traced in a second, the apps' included, and as many at once after a pause; 0: none.
    package var tracesPerSecond = 10

    /// The rate of one user's commits: at least that of one connection.
    var userCommits: (perSecond: Int, burst: Int) {
        (max(self.userCommitsPerSecond, self.commitsPerSecond), max(self.userCommitBurst, self.commitBurst))
    }

    /// How long an app waits before it tries again when too many wait, ms.
    static let busyMs: UInt32 = 500

    package init() {}

    package var json: JSONLimits {
        var limits = JSONLimits()
        limits.depth = self.depth
        limits.keysPerObject = self.keys
        limits.elementsPerArray = self.arrayElements
        return limits
    }

    /// Appends the members of the object that apps get.
    func encode(into writer: inout JSONWriter) {
        writer.member("message", self.messageBytes)
        writer.member("depth", self.depth)
        writer.member("keys", self.keys)
        writer.member("array", self.arrayElements)
        writer.member("numberLength", self.json.numberLength)
        writer.member("group", self.group)
        writer.member("rooms", self.rooms)
        writer.member("unacknowledged", self.unacknowledged)
        writer.member("previewsPerSecond", self.previewsPerSecond)
        writer.member("commitsPerSecond", self.commitsPerSecond)
        writer.member("commitBurst", self.commitBurst)
        writer.member("userCommitsPerSecond", self.userCommits.perSecond)
        writer.member("userCommitBurst", self.userCommits.burst)
        writer.member("replay", self.replay)
        writer.member("roomElements", self.roomElements)
        writer.member("roomBytes", self.roomBytes)
        writer.member("elementAnnotations", self.elementAnnotations)
        writer.member("ownFields", CanvasLimits.extraFields)
        writer.member("pictureBytes", self.pictureBytes)
        writer.member("keyframes", CanvasLimits.keyframes)
        writer.member("animationBytes", CanvasLimits.animationBytes)
    }
}
