import SocketIO
import Testing

@testable import SocketIOServer

/// Why sessions end, and how their clients hear of it.
@Suite struct SessionEndingTests {
    @Test func endingsThatBlameTheClientAreViolations() {
        let blaming: [SessionEnding] = [
            .protocolError, .payloadTooBig, .malformedPacket, .binaryNotSupported, .unexpectedBinary(code: 1002),
            .tooManyBadPackets, .tooManyPings, .violation(.invalidUTF8),
        ]
        let others: [SessionEnding] = [
            .leftByClient, .transportLost(.transportError), .pingTimeout, .connectTimeout, .slowReader, .goingAway,
            .closed(1000, ""),
        ]
        #expect(blaming.allSatisfy { $0.isViolation && !$0.isGraceful })
        #expect(others.allSatisfy { !$0.isViolation })
    }

    @Test func onlyTheServersOwnWishLetsPollsFetchTheRest() {
        #expect(SessionEnding.closed(4000, "").isGraceful && SessionEnding.goingAway.isGraceful)
        #expect(!SessionEnding.leftByClient.isGraceful && !SessionEnding.slowReader.isGraceful)
        #expect(SessionEnding.goingAway.isGoingAway && !SessionEnding.closed(1001, "").isGoingAway)
    }

    @Test func aViolationOfWebSocketHasItsOwnCode() {
        #expect(SessionEnding.violation(.tooBig).reason == .payloadTooBig)
        #expect(SessionEnding.violation(.tooBig).code == 1009)
        #expect(SessionEnding.violation(.invalidUTF8).reason == .protocolError)
        #expect(SessionEnding.violation(.invalidUTF8).code == 1007)
    }
}

/// The bound of what is queued for one client.
@Suite struct SendBacklogTests {
    @Test func aBacklogExceedsItsLimitOnce() {
        var backlog = SendBacklog()
        #expect(backlog.grew(to: 100, limit: 100) == false)
        #expect(backlog.grew(to: 101, limit: 100) == true)
        #expect(backlog.grew(to: 500, limit: 100) == false)
    }

    @Test func exemptBytesDoNotCount() {
        var backlog = SendBacklog()
        backlog.exempt(1000, queued: 50)
        #expect(backlog.grew(to: 1050, limit: 100) == false)
        backlog.exempt(1000, queued: 1050)
        #expect(backlog.grew(to: 2100, limit: 100) == false)
        #expect(backlog.grew(to: 2101, limit: 100) == true)
    }

    @Test func exemptBytesTakeUpNoSpace() {
        var backlog = SendBacklog()
        #expect(backlog.space(within: 100, queued: 30) == 70)
        backlog.exempt(1000, queued: 30)
        #expect(backlog.space(within: 100, queued: 1060) == 40)
        #expect(backlog.space(within: 100, queued: 20) == 100)
    }

    @Test func bytesThatWereSentAreExemptNoLonger() {
        var backlog = SendBacklog()
        backlog.exempt(1000, queued: 0)
        #expect(backlog.grew(to: 1000, limit: 100) == false)
        // Nearly all of it was sent: at most what was left can be exempt.
        #expect(backlog.grew(to: 10, limit: 100) == false)
        #expect(backlog.grew(to: 110, limit: 100) == false)
        #expect(backlog.grew(to: 111, limit: 100) == true)
    }
}
