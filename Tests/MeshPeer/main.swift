// A peer in a process of its own, so that tests can stop and kill it. A server echoes every message to its sender.
// Usage: mesh-peer serve|dial ENDPOINT
import Logging
import Mesh
import Timing

final class Peer: ReactorLoop {
    private let server: ServerLink?
    private let dial: PeerLink?

    init(_ thread: ReactorThread, _ mode: String, _ endpoint: Endpoint) throws {
        let identity = LinkIdentity(name: "child", versions: 7...7)
        self.server = mode == "serve" ? try ServerLink(on: thread, bind: endpoint, identity: identity) : nil
        self.dial = mode == "dial" ? try PeerLink(on: thread, to: endpoint, identity: identity) : nil
    }

    func turn(at now: Instant) -> Instant? {
        while let event = self.server?.next() {
            guard case .message(let peer) = event, let server = self.server else { continue }
            _ = server.send(server.incoming.bytes(at: 0), to: peer)
        }
        while self.dial?.next() != nil {}
        return nil
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: mesh-peer serve|dial ENDPOINT") }
let endpoint = try Endpoint(arguments[2])
let mode = arguments[1]
let reactor = try Reactor(name: "child", logger: Logger(label: "mesh-peer") { _ in SwiftLogNoOpLogHandler() }) {
    try Peer($0, mode, endpoint)
}
try await reactor.run()
