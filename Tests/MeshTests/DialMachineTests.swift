import Testing
import Timing
import TimingTestKit

@testable import Mesh

struct DialMachineTests {
    private let start = Instant.start + 100 * second

    private func upMachine() -> DialMachine {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        _ = machine.due(at: self.start)
        _ = machine.handshakeSucceeded(at: self.start)
        _ = machine.helloReceived(at: self.start)
        return machine
    }

    @Test func theWholeWayUpDownAndUpAgain() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        #expect(machine.deadline == self.start)
        #expect(machine.due(at: self.start) == .open)
        #expect(machine.due(at: self.start) == .nothing)
        #expect(machine.deadline == nil)
        #expect(machine.lost(.disconnected, at: self.start, random: 0) == .ignore)  // libzmq tries again by itself.
        #expect(machine.helloReceived(at: self.start) == false)
        #expect(machine.handshakeSucceeded(at: self.start + second) == true)
        #expect(machine.handshakeSucceeded(at: self.start + second) == false)
        #expect(!machine.isUp)
        #expect(machine.helloReceived(at: self.start + second) == true)
        #expect(machine.helloReceived(at: self.start + second) == false)
        #expect(machine.isUp)
        #expect(machine.due(at: self.start + 2 * second) == .beat)
        machine.sent(at: self.start + 2 * second)
        #expect(machine.due(at: self.start + 2 * second) == .nothing)
        #expect(machine.lost(.disconnected, at: self.start + 3 * second, random: 0) == .closeAndReport(.disconnected))
        #expect(machine.lost(.silent, at: self.start + 3 * second, random: 0) == .ignore)
        #expect(machine.deadline == self.start + 3050 * millisecond)
        #expect(machine.due(at: self.start + 3049 * millisecond) == .nothing)
        #expect(machine.due(at: self.start + 3050 * millisecond) == .open)
    }

    @Test func silenceIsAVerdictOfTheOwner() {
        var machine = self.upMachine()
        machine.sent(at: self.start + 2 * second)
        #expect(machine.due(at: self.start + 2500 * millisecond) == .silent)
        machine.heard(at: self.start + 2500 * millisecond)
        #expect(machine.due(at: self.start + 2500 * millisecond) == .nothing)
        machine.sent(at: self.start + 5 * second)
        #expect(machine.due(at: self.start + 5 * second) == .silent)
        #expect(machine.lost(.silent, at: self.start + 5 * second, random: 0) == .closeAndReport(.silent))
    }

    @Test func aMissingHelloIsALossNobodyIsToldOf() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        _ = machine.due(at: self.start)
        _ = machine.handshakeSucceeded(at: self.start)
        #expect(machine.deadline == self.start + 2 * second)
        #expect(machine.due(at: self.start + 2 * second) == .lose(.helloMissing))
        #expect(machine.lost(.helloMissing, at: self.start + 2 * second, random: 0) == .close)
    }

    @Test func refusalIsReportedAndWaitsLongest() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        _ = machine.due(at: self.start)
        _ = machine.handshakeSucceeded(at: self.start)
        #expect(machine.lost(.refused, at: self.start, random: 0) == .closeAndReport(.refused))
        #expect(machine.deadline == self.start + 2 * second)
    }

    @Test func backOffDoublesIsJitteredAndForgetsAfterAGoodTime() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        var now = self.start
        let ceilings: [UInt64] = [100, 200, 400, 800, 1600, 2000, 2000]
        for (index, ceiling) in ceilings.enumerated() {
            #expect(machine.due(at: now) == .open)
            _ = machine.handshakeSucceeded(at: now)
            _ = machine.helloReceived(at: now)
            // Smallest and largest draw in turn.
            let half = ceiling / 2 * millisecond
            let random = index % 2 == 0 ? 0 : half.count
            _ = machine.lost(.disconnected, at: now, random: random)
            #expect(machine.deadline == now + half + Nanoseconds(random))
            now += half + Nanoseconds(random)
        }
        #expect(machine.due(at: now) == .open)
        _ = machine.handshakeSucceeded(at: now)
        _ = machine.helloReceived(at: now)
        now += 2 * second
        _ = machine.lost(.disconnected, at: now, random: .max)
        #expect((machine.deadline ?? .start) <= now + 100 * millisecond)
    }

    @Test func aSocketThatCannotBeMadeIsTriedLater() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        #expect(machine.due(at: self.start) == .open)
        machine.openFailed(at: self.start, random: 0)
        #expect(machine.deadline == self.start + 50 * millisecond)
    }

    @Test func closedTakesEverythingQuietly() {
        var machine = self.upMachine()
        machine.close()
        #expect(machine.due(at: .never) == .nothing)
        #expect(machine.handshakeSucceeded(at: 0) == false)
        #expect(machine.helloReceived(at: 0) == false)
        #expect(machine.lost(.silent, at: 0, random: 0) == .ignore)
        machine.heard(at: 0)
        machine.sent(at: 0)
        machine.openFailed(at: 0, random: 0)
        #expect(machine.deadline == nil)
        #expect(machine.isClosed)
    }

    @Test func aFailedHandshakeIsTriedAgainAfterABackOff() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        #expect(machine.handshakeFailed(at: self.start, random: 0) == false)
        #expect(machine.due(at: self.start) == .open)
        #expect(machine.handshakeFailed(at: self.start, random: 0) == true)
        #expect(machine.due(at: self.start) == .nothing)
        #expect(machine.deadline == self.start + 50 * millisecond)
        #expect(machine.due(at: self.start + 50 * millisecond) == .open)
    }

    @Test func anotherKeyIsTriedImmediately() {
        var machine = DialMachine(LivenessSettings(), now: self.start)
        #expect(machine.redial(at: self.start) == false)
        #expect(machine.due(at: self.start) == .open)
        #expect(machine.redial(at: self.start) == true)
        #expect(machine.due(at: self.start) == .open)
        _ = machine.handshakeSucceeded(at: self.start)
        #expect(machine.redial(at: self.start) == false)
    }
}
