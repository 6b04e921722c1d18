internal import Boot
internal import JSONBytes
internal import OperatorTerminal
internal import Stages

/// The running pipeline: the line of `touchsync up --json`, the state file, and the output of `touchsync ps --json`.
///
///     {"urls":["http://127.0.0.1:8080"],"database":"postgresql://…",
///      "processes":[{"stage":"gateway","name":"gateway-1","pid":123,"http":"http://127.0.0.1:40001","ready":true}]}
///
/// The `pid` of a process that is not running is null; `http` is null until it is ready. The database's password is
/// masked, unless a script asks for it.
package struct PipelineReport: Sendable, Equatable {
    package struct Process: Sendable, Equatable {
        package var stage: String
        package var name: String
        package var pid: Int?
        package var http: String?
        package var isReady: Bool
    }

    package var urls: [String]
    /// A connection string, with its password.
    package var database: String
    package var processes: [Process]

    /// The stage of the monitor, which is none.
    static let monitor = "monitor"

    /// Where operators see the pipeline; nil while the monitor does not run.
    var monitorURL: String? { self.processes.first { $0.stage == Self.monitor }?.http }

    /// One line of JSON.
    /// - Parameter showsSecrets: whether the connection string has its password.
    package func json(showsSecrets: Bool = false) -> String {
        JSONWriter.line { writer in
            writer.member("urls", self.urls)
            writer.member("database", showsSecrets ? self.database : ConnectionString.masked(self.database))
            writer.objects("processes", self.processes) { process, writer in
                writer.member("stage", process.stage)
                writer.member("name", process.name)
                writer.member("pid", process.pid)
                writer.member("http", process.http)
                writer.member("ready", process.isReady)
            }
        }
    }

    package var table: String {
        var table = TextTable([
            .init("STAGE"), .init("NAME", limit: 64), .init("PID"), .init("STATE"), .init("HTTP", limit: 80),
        ])
        for process in self.processes {
            let state = process.pid == nil ? "down" : process.isReady ? "ready" : "starting"
            let cells = [process.stage, process.name, process.pid.map { "\($0)" } ?? "-", state, process.http ?? "-"]
            table.append(cells.map { .init($0) })
        }
        return table.text()
    }
}

extension PipelineReport {
    init(statuses: [Supervisor.Status], topology: Topology, database: String) {
        let host = topology.host.map { $0 == "0.0.0.0" || $0 == "::" ? "127.0.0.1" : $0 } ?? "127.0.0.1"
        // In the order of the stages, then of the instances; the monitor last.
        let ordered = (Stage.allCases + [nil]).flatMap { stage in statuses.filter { $0.stage == stage } }
        self.urls = ordered.filter { $0.stage == .gateway }.enumerated().map { index, status in
            status.url ?? "\(topology.isSecure ? "https" : "http")://\(host):\(topology.port + index)"
        }
        self.database = database
        self.processes = ordered.map { status in
            Process(
                stage: status.stage?.rawValue ?? Self.monitor, name: status.name, pid: status.pid.map(Int.init),
                http: status.http,
                isReady: status.isReady)
        }
    }

    /// Parses the output of ``json(showsSecrets:)``; nil for anything else.
    /// - Parameter database: the connection string with its password, which the output may lack.
    package init?(_ bytes: [UInt8], database: String) {
        guard let root = try? JSONValue(parsing: bytes), let urls = root["urls"], let processes = root["processes"]
        else { return nil }
        self.urls = urls.elements.compactMap(\.string)
        self.database = database
        self.processes = processes.elements.compactMap { entry in
            guard let stage = entry["stage"]?.string, let name = entry["name"]?.string else { return nil }
            return Process(
                stage: stage, name: name, pid: entry["pid"]?.integer.flatMap(Int.init(exactly:)),
                http: entry["http"]?.string, isReady: entry["ready"]?.bool ?? false)
        }
    }
}
