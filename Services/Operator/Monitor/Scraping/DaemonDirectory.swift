package import Boot
package import Stages
internal import Timing

/// Where the daemons of a pipeline are listed.
package enum DaemonSource: Sendable, Equatable {
    /// In a file, see ``DaemonList``.
    case file(String)
    /// In DNS: the admin servers of a stage under a name each.
    case names([Stage: DNSName])

    /// The path of a file, or `STAGE=srv://NAME` and `STAGE=dns://HOST:PORT`.
    package init(_ items: [String]) throws(SettingRefusal) {
        if items.count == 1, !items[0].contains("://") {
            self = .file(items[0])
            return
        }
        var names: [Stage: DNSName] = [:]
        for item in items {
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let stage = Stage(rawValue: parts[0]), names[stage] == nil,
                let name = try DNSName(parts[1])
            else { throw SettingRefusal("\"\(item)\" is not \(Self.form), once for a stage") }
            names[stage] = name
        }
        guard !names.isEmpty else { throw SettingRefusal("names no stage") }
        self = .names(names)
    }

    package static let form = "STAGE=srv://NAME or STAGE=dns://HOST:PORT"

    var text: String {
        switch self {
        case .file(let path): path
        case .names(let names): names.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: ",")
        }
    }
}

/// The daemons that are to be observed. A file that is gone or no list, and a name without an answer, leave those that
/// are known: a file may be replaced just now, and a resolver that fails says nothing about daemons.
struct DaemonDirectory: Sendable {
    /// In the order of the file, or of stages and names.
    private(set) var daemons: [ListedDaemon] = []
    /// Why the source does not count as it is now, such as `does not exist`; by the stage whose name it is about.
    private var refusals: [Stage?: String] = [:]
    private var stamp: FileFacts?
    private var answers: [Stage: NameAnswers] = [:]

    /// For people; nil when the source counts.
    var refusal: String? {
        guard !self.refusals.isEmpty else { return nil }
        return self.refusals.map { ($0.key.map { "of the \($0.rawValue)s " } ?? "") + $0.value }.sorted()
            .joined(separator: "; ")
    }

    /// Reads the file if it has changed. Blocking, but short.
    mutating func read(_ path: String) {
        guard let stamp = FileFacts(of: path) else {
            self.stamp = nil
            self.refusals[nil] = "does not exist"
            return
        }
        guard stamp != self.stamp else { return }
        switch FileBytes.read(path, limit: DaemonList.maxBytes) {
        case .failure(let refusal): self.refusals[nil] = refusal.reason
        case .success(let text):
            guard let daemons = DaemonList.parse(text) else {
                self.refusals[nil] = "is not a list of daemons"
                return
            }
            self.daemons = daemons
            self.stamp = stamp
            self.refusals[nil] = nil
        }
    }

    /// The name of a stage was looked up.
    /// - Parameter patience: how long a daemon stays that answers do not list any more.
    mutating func answered(
        _ stage: Stage, _ answer: Result<[DNSInstance], SettingRefusal>, patience: Nanoseconds, at now: Instant
    ) {
        switch answer {
        case .failure(let refusal): self.refusals[stage] = refusal.reason
        case .success(let instances):
            self.refusals[stage] = nil
            self.answers[stage, default: NameAnswers(patience: patience)].answered(instances, at: now)
            let known = Stage.allCases.flatMap { stage in
                (self.answers[stage]?.instances ?? []).map { instance in
                    ListedDaemon(
                        stage: stage, name: instance.name, pid: nil,
                        admin: AdminAddress(host: instance.address, port: instance.port))
                }
            }
            self.daemons = Array(known.prefix(DaemonList.limit))
        }
    }
}
