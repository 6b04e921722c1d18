import GatewayCore
import Testing
import Timing

/// How late the event loop is, by its passes alone.
@Suite struct LoopPassesTests {
    private var passes = LoopPasses()

    private static func at(_ microseconds: UInt64) -> Instant { .start + .seconds(1) + .microseconds(microseconds) }

    /// A pass with one thing to handle.
    private mutating func pass(from start: UInt64, to end: UInt64) {
        self.passes.handled(at: Self.at(start))
        self.passes.passEnded(at: Self.at(end))
    }

    @Test mutating func aLoopThatSleptIsInTime() {
        self.pass(from: 1000, to: 9000)
        self.passes.handled(at: Self.at(20_000))
        #expect(self.passes.lateness(at: Self.at(20_000)) == .zero)
    }

    @Test mutating func whatWasHandledBeforeInThePassCounts() {
        self.pass(from: 1000, to: 9000)
        self.passes.handled(at: Self.at(20_000))
        self.passes.handled(at: Self.at(23_000))
        #expect(self.passes.lateness(at: Self.at(23_000)) == .microseconds(3000))
    }

    @Test mutating func whatIsLookedForWithinAPassWaitedForHalfOfTheTimeSinceTheLastLook() {
        self.pass(from: 1000, to: 9000)
        self.passes.handled(at: Self.at(9050))
        self.passes.looked(at: Self.at(11_050))
        #expect(self.passes.lateness(at: Self.at(12_050)) == .microseconds(500))
        self.passes.passEnded(at: Self.at(13_050))
        self.passes.handled(at: Self.at(20_000))
        #expect(self.passes.lateness(at: Self.at(20_000)) == .zero)
    }

    @Test mutating func previewsHaveOneTurnInAPass() {
        self.passes.handled(at: Self.at(1000))
        let first = (self.passes.takePreviewTurn(), self.passes.takePreviewTurn())
        self.passes.passEnded(at: Self.at(2000))
        let next = self.passes.takePreviewTurn()
        #expect(first == (true, false) && next)
    }

    @Test mutating func whatIsFoundAfterAPassWaitedForHalfOfIt() {
        self.pass(from: 1000, to: 9000)
        self.passes.handled(at: Self.at(9050))
        #expect(self.passes.lateness(at: Self.at(9050)) == .microseconds(4025))
        #expect(self.passes.lateness(at: Self.at(11_050)) == .microseconds(6025))
        self.passes.passEnded(at: Self.at(12_050))
        self.passes.handled(at: Self.at(12_100))
        // Not longer: it would have been found in the pass before.
        #expect(self.passes.lateness(at: Self.at(12_100)) == .microseconds(1525))
    }

    @Test mutating func aPassThatHandlesNothingIsNone() {
        self.pass(from: 1000, to: 9000)
        self.passes.passEnded(at: Self.at(9010))
        self.passes.passEnded(at: Self.at(30_000))
        self.passes.handled(at: Self.at(30_500))
        #expect(self.passes.lateness(at: Self.at(30_500)) == .zero)
    }
}
