package import Boot
package import Stages

/// The number of instances of each stage, and their addresses; pure.
package struct Topology: Sendable, Equatable {
    /// Instances per stage, each 1 to 64.
    package var counts: [Stage: Int]
    /// Gateway k listens on `port + k`, k from 0.
    package var port: Int
    /// The gateways' address; nil leaves it to their settings.
    package var host: String?
    /// The folder of the sockets.
    package var sockets: String
    /// Whether the gateways speak TLS.
    package var isSecure = false

    /// The instances' names: `gateway-1`, `gateway-2`, …
    package func names(_ stage: Stage) -> [String] {
        (1...max(1, self.counts[stage] ?? 1)).map { "\(stage.rawValue)-\($0)" }
    }

    /// A stage's instances as addresses for those that connect to it.
    package func peers(_ stage: Stage) -> [PeerAddress] {
        self.names(stage).map { PeerAddress(name: $0, endpoint: "ipc://\(self.sockets)/\($0).sock") }
    }

    /// The stages in the order of their start: those that others connect to come first.
    package static let startOrder: [Stage] = [.fanout, .committer, .coalescer, .gateway]

    package static func downstream(of stage: Stage) -> [Stage] {
        switch stage {
        case .gateway: [.coalescer, .committer, .fanout]
        case .coalescer: [.fanout]
        case .committer: [.fanout]
        case .fanout: []
        }
    }

    /// The flags that make one instance a part of this pipeline.
    /// - Parameter index: from 0.
    package func flags(_ stage: Stage, _ index: Int) -> [String] {
        let name = self.names(stage)[index]
        var flags = ["--name", name]
        if stage == .gateway {
            flags += ["--port", "\(self.port + index)"]
            if let host { flags += ["--host", host] }
        } else {
            flags += ["--bind", "ipc://\(self.sockets)/\(name).sock"]
        }
        for other in Self.downstream(of: stage) {
            flags += ["--\(other.rawValue)s", self.peers(other).map(\.description).joined(separator: ",")]
        }
        return flags
    }
}
