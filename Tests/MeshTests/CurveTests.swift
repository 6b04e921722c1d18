import NIOConcurrencyHelpers
import PipelineTestKit
import Testing
import Trust

@testable import Mesh

/// Links over TCP that are guarded by keys: which peers are admitted.
@Suite(.timeLimit(.minutes(1)))
struct CurveTests {
    private let server = KeyPair()
    private let gateway = KeyPair()

    /// A list with the server, and a gateway that may use names beginning with `gateway-`.
    private func peers(_ more: PeerList.Entry...) -> PeerList {
        PeerList(
            [
                .init(role: .committer, name: "committer-1", key: self.server.publicKey),
                .init(role: .gateway, name: "gateway-*", key: self.gateway.publicKey),
            ] + more)
    }

    private func bound(_ peers: PeerList? = nil, serving roles: PeerRoles = PeerRoles(.gateway)) async throws -> (
        server: Probe, endpoint: Endpoint, keys: LinkKeys
    ) {
        let keys = LinkKeys(own: self.server, peers: peers ?? self.peers())
        let server = try Probe.guardedServer(keys, serving: roles)
        let endpoint = try #require(await server.ask { $0.server?.endpoint })
        return (server, endpoint, keys)
    }

    private func dial(
        _ endpoint: Endpoint, as name: String = "gateway-1", _ pair: KeyPair? = nil, knowing peers: PeerList? = nil
    ) throws -> Probe {
        try Probe.guardedDial(endpoint, LinkKeys(own: pair ?? self.gateway, peers: peers ?? self.peers()), name: name)
    }

    @Test func listedKeysComeUpAndSpeak() async throws {
        let (server, endpoint, _) = try await self.bound()
        let dial = try self.dial(endpoint)
        try await dial.sees(.up("committer-1"))
        let peer = try await server.firstPeer()
        #expect(await server.ask { $0.server?.roles(of: peer) } == PeerRoles(.gateway))
        dial.post { _ = $0.dial?.send([1]) }
        try await server.sees(.peerMessage(peer, [[1]]))
        server.post { _ = $0.server?.send([2], to: peer) }
        try await dial.sees(.message([[2]]))
        try await dial.stop()
        try await server.stop()
    }

    @Test func anUnknownKeyIsRefused() async throws {
        let (server, endpoint, _) = try await self.bound()
        let dial = try self.dial(endpoint, KeyPair())
        try await eventually("refused") { server.refusals[.unknownKey] > 0 && dial.refusals[.rejected] > 0 }
        #expect(server.seen.isEmpty && dial.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    @Test func aKeyOfAnotherRoleIsRefused() async throws {
        let coalescer = KeyPair()
        let peers = self.peers(.init(role: .coalescer, name: "*", key: coalescer.publicKey))
        let (server, endpoint, _) = try await self.bound(peers)
        let dial = try self.dial(endpoint, coalescer)
        try await eventually("refused") { server.refusals[.otherRole] > 0 }
        #expect(server.seen.isEmpty && dial.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    @Test func aKeyMayNotUseTheNameOfAnother() async throws {
        let other = KeyPair()
        let peers = self.peers(.init(role: .gateway, name: "gateway-2", key: other.publicKey))
        let (server, endpoint, _) = try await self.bound(peers)
        let dial = try self.dial(endpoint, other)
        try await eventually("refused") { server.refusals[.name] > 0 }
        #expect(server.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    @Test func aPlainPeerIsRefused() async throws {
        let (server, endpoint, _) = try await self.bound()
        let raw = try Probe.raw(.dealer, endpoint)
        raw.post { $0.raw?.send([[0], LinkFaultTests.hello(name: "gateway-1")]) }
        // Whoever notices first that the other speaks something else closes the connection.
        try await eventually("refused") { server.refusals[.mechanism] + server.refusals[.unfinished] > 0 }
        #expect(server.seen.isEmpty)
        try await raw.stop()
        try await server.stop()
    }

    @Test func aGuardedLinkDoesNotSpeakToAPlainServer() async throws {
        let server = try Probe.server(Endpoint("tcp://127.0.0.1:0"), name: "committer-1")
        let endpoint = try #require(await server.ask { $0.server?.endpoint })
        let dial = try self.dial(endpoint)
        try await eventually("refused") { dial.dial.handshakesFailed > 1 }
        #expect(server.seen.isEmpty && dial.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    @Test func anotherServerThanExpectedIsRefused() async throws {
        let (server, endpoint, _) = try await self.bound()
        let peers = PeerList([.init(role: .committer, name: "committer-1", key: KeyPair().publicKey)])
        let dial = try self.dial(endpoint, knowing: peers)
        try await eventually("refused") { dial.dial.handshakesFailed > 1 }
        #expect(dial.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    @Test func aServerMayNotUseTheNameOfAnother() async throws {
        let (server, endpoint, _) = try await self.bound()
        let dial = try Probe.guardedDial(
            endpoint,
            LinkKeys(
                own: self.gateway,
                peers: PeerList([.init(role: .committer, name: "committer-2", key: self.server.publicKey)])),
            expecting: "committer-2")
        try await eventually("refused") { dial.refusals[.name] > 0 }
        #expect(dial.seen.isEmpty)
        try await dial.stop()
        try await server.stop()
    }

    /// A server has one key at a time. While it is replaced both are listed, and whoever dials tries one after the other.
    @Test func anyOfAServersKeysIsFound() async throws {
        let former = PeerList.Entry(role: .committer, name: "committer-1", key: KeyPair().publicKey)
        let (server, endpoint, _) = try await self.bound()
        let dial = try self.dial(endpoint, knowing: PeerList([former] + self.peers().entries))
        try await dial.sees(.up("committer-1"))
        #expect(dial.dial.handshakesFailed > 0)
        try await dial.stop()
        try await server.stop()
    }

    @Test func aKeyThatIsListedLaterIsTried() async throws {
        let (server, endpoint, _) = try await self.bound()
        let keys = LinkKeys(own: self.gateway, peers: PeerList())
        let dial = try Probe.guardedDial(endpoint, keys)
        try await eventually("no key") { dial.refusals[.noKey] > 0 }
        keys.replace(self.peers())
        try await dial.sees(.up("committer-1"))
        try await dial.stop()
        try await server.stop()
    }

    @Test func aPeerWhoseKeyIsRemovedIsHeardNoMore() async throws {
        let (server, endpoint, keys) = try await self.bound()
        let dial = try self.dial(endpoint)
        let peer = try await server.firstPeer()
        try await dial.sees(.up("committer-1"))
        keys.replace(PeerList())
        server.reactor.waker.signal()
        try await server.sees(.peerDown(peer, .forbidden))
        dial.post { _ = $0.dial?.send([9]) }
        try await eventually("refused") { server.refusals[.unknownKey] > 0 }
        #expect(server.messages.isEmpty)
        keys.replace(self.peers())
        try await eventually("up again") { dial.dial.ups == 2 }
        try await dial.stop()
        try await server.stop()
    }

    @Test func aServerWhoseKeyIsRemovedIsHeardNoMore() async throws {
        let (server, endpoint, _) = try await self.bound()
        let keys = LinkKeys(own: self.gateway, peers: self.peers())
        let dial = try Probe.guardedDial(endpoint, keys)
        try await dial.sees(.up("committer-1"))
        keys.replace(PeerList())
        dial.reactor.waker.signal()
        try await dial.sees(.down(.forbidden))
        try await eventually("no key") { dial.refusals[.noKey] > 0 }
        try await dial.stop()
        try await server.stop()
    }

    /// A name stays with the key that uses it, even if others may use it too.
    @Test func aLiveNameIsNotTakenOverByAnotherKey() async throws {
        let other = KeyPair()
        let (server, endpoint, _) = try await self.bound(
            self.peers(.init(role: .gateway, name: "gateway-1", key: other.publicKey)))
        let dial = try self.dial(endpoint)
        let peer = try await server.firstPeer()
        let rival = try self.dial(endpoint, other)
        try await eventually("refused") { server.refusals[.taken] > 0 }
        dial.post { _ = $0.dial?.send([1]) }
        try await server.sees(.peerMessage(peer, [[1]]))
        #expect(!server.seen.contains(.peerDown(peer, .replaced)))
        // When it has gone, the name is free.
        try await dial.stop()
        try await rival.sees(.up("committer-1"))
        try await rival.stop()
        try await server.stop()
    }

    @Test func localSocketsNeedNoKeys() async throws {
        let directory = try TemporaryFolder()
        let keys = LinkKeys(own: self.server, peers: PeerList())
        let server = try Probe.guardedServer(keys, serving: PeerRoles(.gateway), at: directory.endpoint())
        let dial = try Probe.dial(directory.endpoint())
        try await dial.sees(.up("committer-1"))
        let peer = try await server.firstPeer()
        #expect(await server.ask { $0.server?.roles(of: peer) } == .all)
        try await dial.stop()
        try await server.stop()
    }
}

extension Probe {
    /// A probe with a server that has keys.
    static func guardedServer(
        _ keys: LinkKeys, serving roles: PeerRoles, at endpoint: Endpoint? = nil, options: LinkOptions = LinkOptions()
    ) throws -> Probe {
        let endpoint = try endpoint ?? Endpoint("tcp://127.0.0.1:0")
        return try Probe(keys: keys) { loop in
            loop.server = try ServerLink(
                on: loop.thread, bind: endpoint,
                identity: LinkIdentity(name: "committer-1", versions: version...version),
                options: options, liveness: LinkFaultTests.patient, admitting: roles)
        }
    }

    /// A probe with a dialled link that has keys.
    static func guardedDial(
        _ endpoint: Endpoint, _ keys: LinkKeys, name: String = "gateway-1", expecting server: String = "committer-1"
    ) throws -> Probe {
        try Probe(keys: keys) { loop in
            loop.dial = try PeerLink(
                on: loop.thread, to: endpoint, expecting: ExpectedPeer(.committer, server),
                identity: LinkIdentity(name: name, versions: version...version), liveness: LinkFaultTests.patient)
        }
    }

    /// What was refused on the probe's thread.
    var refusals: LinkRefusals { self.record.refusals.withLockedValue { $0 } }
}
