/// A kind of trouble that a pipeline can be in. Raw values are the anchors of the handbook's sections.
enum Trouble: String, CaseIterable, Hashable, Sendable {
    case daemonDown = "daemon-down"
    case daemonSilent = "daemon-silent"
    case daemonNotReady = "daemon-not-ready"
    case loopStalled = "loop-stalled"
    case metricsUnreadable = "metrics-unreadable"
    case noDatabase = "no-database"
    case slowDatabase = "slow-database"
    case commitsWait = "commits-wait"
    case noCredit = "no-credit"
    case previewsWait = "previews-wait"
    case slowApps = "slow-apps"
    case roomsSlowed = "rooms-slowed"
    case recordsDropped = "records-dropped"
    case linksRefused = "links-refused"
    case fanoutBehind = "fanout-behind"
    case gatewayBlocked = "gateway-blocked"
    case rulesDiffer = "rules-differ"
    case fileRefused = "file-refused"
    case setStale = "set-stale"
    case fewDescriptors = "few-descriptors"
    case noted = "noted"

    /// Whether apps notice it.
    enum Severity: String, Sendable {
        case critical, warning
    }

    var severity: Severity {
        switch self {
        case .daemonDown, .daemonSilent, .daemonNotReady, .loopStalled, .noDatabase, .slowDatabase, .commitsWait:
            .critical
        default: .warning
        }
    }

    /// The heading of its section in the handbook.
    var title: String {
        self.rawValue.prefix(1).uppercased() + self.rawValue.dropFirst().replacing("-", with: " ")
    }

    /// The first thing to do.
    var advice: String {
        switch self {
        case .daemonDown: "Look at the end of its log; whoever starts the daemons starts it again."
        case .daemonSilent: "Look whether the process is stopped or starved of CPU; if it stays silent, restart it."
        case .daemonNotReady: "The reason names what it waits for."
        case .loopStalled: "Restart the daemon; its log and a stack trace say where it hangs."
        case .metricsUnreadable: "Look whether the listed address belongs to this daemon and this release."
        case .noDatabase: "Look whether PostgreSQL runs and accepts the daemons' connection string."
        case .slowDatabase: "Look in pg_stat_activity for locks and long transactions, then at the database's disk."
        case .commitsWait: "Look at the stages behind the gateway: the one with the oldest queue holds commits up."
        case .noCredit: "The receiver is at its limit of unfinished commits: look at the stage behind."
        case .previewsWait: "Look at the coalescer's CPU and at the fan-outs it sends to."
        case .slowApps: "These apps do not read: look at their networks; they are disconnected at the limit."
        case .roomsSlowed: "The gateway is overloaded: add a gateway, or look for a room with very many publishers."
        case .recordsDropped: "The reason says which limit was reached; commits and updates are sent again."
        case .linksRefused: "Look at keys and peers files: somebody connects who may not, or cannot prove who it is."
        case .fanoutBehind: "Look at the database's read times; members see updates late."
        case .gatewayBlocked: "Look at the gateway that accepts no more: CPU, network, and whether it is stopped."
        case .rulesDiffer: "Give all committers and fan-outs the same rules file."
        case .fileRefused: "The reason names the file; what was in force stays."
        case .setStale: "Correct the file, or look at the resolver; the instances known stay."
        case .fewDescriptors: "Raise the limit of open files before connections are refused."
        case .noted: "The note says what deserves attention."
        }
    }
}
