import Boot
import Logging
import Mesh
import NIOConcurrencyHelpers
import SocketIOServer
import Trust

/// Proves to other gateways which requests this one relays, and checks theirs, with the same keys as the links.
final class GatewayRelays: RelayAuthority {
    private struct State {
        var guardian: RelayGuard
        var random = SystemRandomNumberGenerator()
        var log = LogLimiter(every: .seconds(1))
    }

    private let state: NIOLockedValueBox<State>
    private let logger: Logger

    /// - Parameter context: names this gateway.
    init(_ keys: LinkKeys, _ context: DaemonContext) {
        let guardian = RelayGuard(own: keys.own, name: context.name, peers: keys.peers)
        self.state = NIOLockedValueBox(State(guardian: guardian))
        self.logger = context.logger
    }

    /// Other peers are in force. From any thread.
    func peersChanged(_ peers: PeerList) { self.state.withLockedValue { $0.guardian.peersChanged(peers) } }

    /// The number of relayed requests that were refused, by the reason.
    var refusals: [RelayGuard.Refusal: Int] { self.state.withLockedValue { $0.guardian.refusals } }

    func proof(
        method: String, target: String, forwardedFor: String, body: [UInt8], for neighbour: String
    ) -> String? {
        let request = RelayedRequest(method: method, target: target, forwardedFor: forwardedFor)
        return self.state.withLockedValue { state in
            let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &state.random) }
            return state.guardian.proof(
                of: request, body: body, to: neighbour, at: Int64(WallClock.milliseconds()), nonce: nonce)
        }
    }

    func digest(provenBy proof: String?, method: String, target: String, forwardedFor: String) -> [UInt8]? {
        let request = RelayedRequest(method: method, target: target, forwardedFor: forwardedFor)
        let result = self.state.withLockedValue {
            $0.guardian.check(proof, of: request, at: Int64(WallClock.milliseconds()))
        }
        switch result {
        case .success(let digest): return digest
        case .failure(let refusal):
            self.report(refusal)
            return nil
        }
    }

    func isProven(body: [UInt8], digest: [UInt8]) -> Bool {
        let isProven = self.state.withLockedValue { $0.guardian.check(body: body, digest: digest) }
        if !isProven { self.report(.body) }
        return isProven
    }

    private func report(_ refusal: RelayGuard.Refusal) {
        guard let suppressed = self.state.withLockedValue({ $0.log.admit(at: .now) }) else { return }
        self.logger.warning(
            "relayed request refused",
            metadata: ["relay.reason": "\(refusal.rawValue)", "log.suppressed": "\(suppressed)"])
    }
}
