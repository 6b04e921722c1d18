package import Boot
package import CommitterCore
internal import Timing
package import Wire

/// A committer's settings; the schema has names, defaults and ranges.
package struct CommitterSettings: DaemonSettings {
    package var bind: String
    package var fanouts: InstanceList
    package var lookups: LookupPace
    /// What guards its links; nil for plain ones.
    package var linkKeys: LinkKeyFiles?
    package var databaseURL: String
    package var databaseConnections: Int
    package var migrates: Bool
    package var allowsUnsafeDatabase: Bool
    package var commitLogRetentionDays: Int
    package var sessionRetentionDays: Int
    package var rules: RulesFile
    package var databaseDeadline: Duration
    package var limits: CommitterLimits
    /// The credit of each sender: unfinished commits and their bytes.
    package var credit: CommitCredit
    package var drain: Duration

    package static let connections = Setting.int(
        "database-connections", default: 4, in: 1...64, "Connections to PostgreSQL; each carries one batch at a time.")
    package static let migrate = Setting.bool(
        "migrate", default: true,
        "Bring the database's schema up to date at start; false: only make sure that it is, and end when it is too old."
    )
    package static let unsafeDatabase = Setting.bool(
        "unsafe-database", default: false,
        "Use a database whose settings can lose acknowledged commits (such as fsync off).")
    /// A day would be enough for apps that resume, as they get a thousand updates at most. A week is for apps that were
    /// offline with an unanswered commit, over a weekend or a holiday: only the log contains its result.
    package static let logRetention = Setting.int(
        "commit-log-retention-days", default: 7, in: 1...3650,
        "Days that the commit log is kept; an app offline for longer gets the whole room.")
    package static let sessionRetention = Setting.int(
        "session-retention-days", default: 30, in: 2...3650,
        "Days without a commit or a join after which a session ends.")
    package static let queueCommits = Setting.int(
        "queue-commits", default: 8192, in: 1...1_000_000, "Commits in the queue; further ones are refused as busy.")
    package static let queueBytes = Setting.int(
        "queue-bytes", default: 32 << 20, in: 1 << 20...1 << 30, "Bytes of commits in the queue.")
    package static let groupElements = Setting.int(
        "group-elements", default: 500, in: 1...500, "Maximum number of elements that one commit names or creates.")
    package static let commitElements = Setting.int(
        "commit-elements", default: 5000, in: 1...1_000_000,
        "Maximum number of elements that one commit changes, the annotations of deleted ones included.")
    package static let userSessions = Setting.int(
        "user-sessions", default: 1000, in: 10...1_000_000,
        "Sessions of a user in one room, and as many requests over HTTP; a new one ends the oldest of those that are idle."
    )
    package static let undoDepth = Setting.int(
        "undo-depth", default: 100, in: 0...10_000,
        "How many changes a user can undo in a room, and redo; 0: none.")
    package static let undoEntryBytes = Setting.int(
        "undo-entry-bytes", default: 1 << 20, in: 1 << 10...64 << 20,
        "Maximum bytes of elements in one undo entry of several commits; a single commit always is one entry.")
    package static let cacheBytes = Setting.int(
        "cache-bytes", default: 128 << 20, in: 1 << 20...64 << 30,
        "Approximate memory of cached elements and sessions between batches, bytes.")
    package static let commitDeadline = Setting.milliseconds(
        "commit-deadline-ms", default: 10_000, in: 100...600_000,
        "How long a commit may wait for the database before the answer is unavailable.")

    /// Half a commit's deadline: after a lost answer there is time to find out the outcome, or to retry.
    package static let databaseDeadline = Setting.milliseconds(
        "database-deadline-ms", default: 5000, in: 100...600_000,
        "Timeout of a database request; the connection is then abandoned and the outcome is unknown.")

    package static let schema = SettingsSchema(
        "committer", summary: "orders commits, writes them to PostgreSQL and acknowledges them.",
        [
            SharedSettings.bind, SharedSettings.fanouts, SharedSettings.lookupPause, SharedSettings.lookupPatience,
            SharedSettings.linkKeyFile, SharedSettings.peersFile, SharedSettings.databaseURL, connections, migrate,
            unsafeDatabase, SharedSettings.rules, queueCommits, queueBytes, SharedSettings.creditCommits,
            SharedSettings.creditBytes, groupElements, commitElements,
            SharedSettings.roomElements, SharedSettings.roomBytes, SharedSettings.elementAnnotations,
            SharedSettings.pictureBytes, userSessions,
            undoDepth, undoEntryBytes, cacheBytes, commitDeadline, databaseDeadline, logRetention, sessionRetention,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.fanouts = try values.instances(SharedSettings.fanouts, mayBeEmpty: true)
        self.lookups = LookupPace(values)
        self.databaseURL = try values.required(SharedSettings.databaseURL)
        self.databaseConnections = values[Self.connections]
        self.migrates = values[Self.migrate]
        self.commitLogRetentionDays = values[Self.logRetention]
        self.sessionRetentionDays = values[Self.sessionRetention]
        self.allowsUnsafeDatabase = values[Self.unsafeDatabase]
        self.databaseDeadline = values[Self.databaseDeadline]
        self.drain = values[SharedSettings.drainTimeout]
        self.credit = CommitCredit(
            commits: UInt64(clamping: values[SharedSettings.creditCommits]),
            bytes: UInt64(clamping: values[SharedSettings.creditBytes]))
        var limits = CommitterLimits()
        limits.queueCommits = values[Self.queueCommits]
        limits.queueBytes = values[Self.queueBytes]
        limits.groupElements = values[Self.groupElements]
        limits.commitElements = values[Self.commitElements]
        limits.roomElements = values[SharedSettings.roomElements]
        limits.roomBytes = values[SharedSettings.roomBytes]
        limits.elementAnnotations = values[SharedSettings.elementAnnotations]
        limits.pictureBytes = values[SharedSettings.pictureBytes]
        guard limits.commitElements >= limits.groupElements, limits.commitElements > limits.elementAnnotations
        else {
            throw values.problem(
                Self.commitElements, "must be at least group-elements, and more than element-annotations")
        }
        limits.userSessions = values[Self.userSessions]
        limits.undoDepth = values[Self.undoDepth]
        limits.undoEntryBytes = values[Self.undoEntryBytes]
        limits.cacheBytesPerShard = values[Self.cacheBytes] / 64
        limits.deadline = Nanoseconds(values[Self.commitDeadline])
        self.limits = limits
        self.rules = try values.rules()
        self.linkKeys = try values.linkKeys(bound: [SharedSettings.bind])
    }
}
