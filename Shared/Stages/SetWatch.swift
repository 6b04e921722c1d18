package import Boot
package import ServiceLifecycle
internal import Timing

/// Collects the sets of a daemon that may change while it runs, and follows their sources: all files on one thread, all
/// names on another.
package struct SetWatch {
    private let context: DaemonContext
    private let prefix: String
    private let pace: LookupPace
    private var files: [WatchedFile] = []
    private var names: [(name: DNSName, set: FollowedSet)] = []

    /// Nothing to follow yet.
    /// - Parameter prefix: of the metrics' names.
    package init(_ context: DaemonContext, prefix: String, pace: LookupPace) {
        self.context = context
        self.prefix = prefix
        self.pace = pace
    }

    /// Follows one set.
    /// - Parameters:
    ///   - setting: its name, such as `fanouts`.
    ///   - adopt: called with each other set, on a thread that may block.
    package mutating func follow(
        _ list: InstanceList, _ setting: String, adopt: @escaping @Sendable ([PeerAddress]) -> Void
    ) {
        let report = SetReport(setting, source: list.source.place, self.context, prefix: self.prefix)
        let followed = FollowedSet(list, patience: self.pace.patience, report: report, adopt: adopt)
        switch list.source {
        case .list: break
        case .file(let path): self.files.append(WatchedFile(path, stamp: list.stamp, contents: followed))
        case .name(let name): self.names.append((name, followed))
        }
    }

    /// The services that follow the sources; none when all sets are lists.
    /// - Throws: when the process has no descriptor left.
    package func services() throws -> [any Service] {
        var services: [any Service] = []
        if !self.files.isEmpty { services += try FileWatch.services(self.files, name: "instances", self.context) }
        if !self.names.isEmpty { services.append(try NameWatch(self.names, every: self.pace.pause, self.context)) }
        return services
    }
}
