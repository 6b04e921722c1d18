import Testing
import Timing
import Wire

@testable import FanoutCore

/// The connections of each session, which are looked up with every preview.
@Suite struct SessionIndexTests {
    private struct Place {
        let gateway: GatewayID
        var sid: Identifier = ""
        var since = Instant.never
    }

    private var occupancy = Occupancy()
    /// What the room's connections should have.
    private var places: [UInt64: Place] = [:]
    private static let sessions: [Identifier] = ["s1", "s2", "s3"]

    private func connections(of sid: Identifier) -> [UInt64] {
        self.places.filter { $0.value.sid == sid }.keys.sorted()
    }

    /// No connection is looked at but those of the session, and none of these is missed.
    @Test mutating func connectionsAreListedByTheirPresentSessions() throws {
        var random = SplitMix64(seed: 11)
        for step in 1...2000 as ClosedRange<UInt64> {
            let now = Instant.start + .milliseconds(step)
            let connection = UInt64.random(in: 1...8, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: self.leave(connection)
            case 1...2: self.enter(connection, at: Bool.random(using: &random) ? Scene.g1 : Scene.g2)
            default:
                let sid = (Self.sessions + [""]).randomElement(using: &random) ?? ""
                self.setSession(sid, of: connection, at: now)
            }
            for sid in Self.sessions {
                let expected = self.connections(of: sid)
                try #require(self.occupancy.connectionsBySession[sid, default: []].sorted() == expected, "step \(step)")
                let others = self.occupancy.connections(of: sid, except: connection)
                #expect(others == expected.filter { $0 != connection })
                let before = Instant.start + .milliseconds(step / 2)
                let wasHere = expected.contains { self.places[$0].map { $0.since < before } ?? false }
                #expect(self.occupancy.wasHere(sid, before: before) == wasHere)
            }
        }
        for connection in 1...8 as ClosedRange<UInt64> { self.leave(connection) }
        #expect(self.occupancy.connectionsBySession.isEmpty)
    }

    private mutating func leave(_ connection: UInt64) {
        _ = self.occupancy.leave(connection)
        self.places[connection] = nil
    }

    /// From another gateway it is another connection of that number, which has no session yet.
    private mutating func enter(_ connection: UInt64, at gateway: GatewayID) {
        _ = self.occupancy.enter(connection, at: gateway, as: .named("ann"))
        if self.places[connection]?.gateway != gateway { self.places[connection] = Place(gateway: gateway) }
    }

    private mutating func setSession(_ sid: Identifier, of connection: UInt64, at now: Instant) {
        self.occupancy.setSession(sid, of: connection, at: now)
        guard let place = self.places[connection], place.sid != sid else { return }
        self.places[connection] = Place(gateway: place.gateway, sid: sid, since: now)
    }
}
