// A peer in a process of its own, so that tests can stop and kill it: echoes every message to its sender.
// Usage: mesh-peer ENDPOINT
import Logging
import Mesh

final class Echo: ReactorLoop {
    let server: ServerLink

    init(_ thread: ReactorThread, _ endpoint: Endpoint) throws {
        self.server = try ServerLink(
            on: thread, bind: endpoint, identity: LinkIdentity(name: "echo", protocolVersion: 7))
    }

    func turn(now: UInt64) -> UInt64? {
        while let event = self.server.next() {
            guard case .message(let peer) = event else { continue }
            _ = self.server.send(self.server.incoming.bytes(at: 0), to: peer)
        }
        return nil
    }
}

guard CommandLine.arguments.count == 2 else { fatalError("usage: mesh-peer ENDPOINT") }
let endpoint = try Endpoint(CommandLine.arguments[1])
let reactor = try Reactor(name: "echo", logger: Logger(label: "mesh-peer") { _ in SwiftLogNoOpLogHandler() }) {
    try Echo($0, endpoint)
}
try await reactor.run()
