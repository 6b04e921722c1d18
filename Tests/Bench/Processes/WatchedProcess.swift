import Boot
import JSONBytes

/// A server process whose use of CPU and memory is reported.
package struct WatchedProcess: Sendable, Equatable {
    package var name: String
    package var pid: Int
    /// The URL of its metrics; nil when unknown.
    package var metrics: String?
    /// What its metrics ask for.
    package var operatorToken: String?

    package init(name: String, pid: Int, metrics: String? = nil) {
        self.name = name
        self.pid = pid
        self.metrics = metrics
    }

    /// Reads `NAME=PID`.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let pid = Int(parts[1]), pid > 0 else { return nil }
        self.init(name: String(parts[0]), pid: pid)
    }
}

/// The pipeline that runs in a data folder, from its state file:
/// `{"urls":["http://…"],"processes":[{"name":"gateway-1","pid":123,…}]}`.
package struct RunningPipeline: Sendable, Equatable {
    package var urls: [String]
    package var processes: [WatchedProcess]

    /// Parses a state file; nil for anything else.
    package init?(_ bytes: [UInt8]) {
        var document = JSONDocument()
        guard (try? document.parse(bytes)) != nil, let urls = document.root["urls"],
            let processes = document.root["processes"]
        else { return nil }
        self.urls = urls.elements.compactMap(\.string)
        self.processes = processes.elements.compactMap { entry in
            guard let name = entry["name"]?.string, let pid = entry["pid"]?.integer, pid > 0 else { return nil }
            return WatchedProcess(name: name, pid: Int(clamping: pid), metrics: entry["http"]?.string)
        }
    }

    /// Reads `FOLDER/run/state.json`.
    static func read(folder: String) -> RunningPipeline? {
        guard let bytes = try? FileBytes.read("\(folder)/run/state.json").get(), var pipeline = RunningPipeline(bytes)
        else { return nil }
        let token = try? OperatorTokenFile.read(in: folder).get()
        for index in pipeline.processes.indices { pipeline.processes[index].operatorToken = token }
        return pipeline
    }
}
