import Testing
import Timing
import TimingTestKit
import Wire

@testable import Mesh

struct LivenessMachineTests {
    // Beats are aligned down to quarters of a second, so whole times make readable transcripts.
    private let start = Instant.start + 100 * second

    @Test func beatsOnlyWhenNothingWasSent() {
        var pulse = LivenessMachine(LivenessSettings(), now: self.start)
        #expect(pulse.deadline == self.start + second)
        #expect(pulse.due(at: self.start + second - 1) == .nothing)
        #expect(pulse.due(at: self.start + second) == .beat)
        pulse.sent(at: self.start + second)
        pulse.heard(at: self.start + second)
        #expect(pulse.due(at: self.start + second) == .nothing)
        pulse.sent(at: self.start + 1900 * millisecond)  // Data counts like a beat.
        #expect(pulse.due(at: self.start + 2 * second) == .nothing)
        #expect(pulse.deadline == self.start + 2750 * millisecond)
    }

    @Test func silenceIsDueAfterTheLimitAndOverByAnyWord() {
        var pulse = LivenessMachine(LivenessSettings(), now: self.start)
        pulse.sent(at: self.start + 2 * second)
        #expect(pulse.due(at: self.start + 2499 * millisecond) == .nothing)
        #expect(pulse.deadline == self.start + 2500 * millisecond)
        #expect(pulse.due(at: self.start + 2500 * millisecond) == .silent)
        pulse.heard(at: self.start + 2500 * millisecond)
        #expect(pulse.due(at: self.start + 2500 * millisecond) == .nothing)
        #expect(pulse.due(at: self.start + 5 * second) == .silent)
    }

    @Test func linksOfOneThreadBeatTogether() {
        let offsets = (0..<20).map { UInt64($0) * 7 * millisecond + 1 }
        let deadlines = Set(offsets.map { LivenessMachine(LivenessSettings(), now: self.start + $0).deadline })
        #expect(deadlines == [self.start + second])
    }

    @Test func aBeatIsNeverLateNorTwiceAtOnce() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let now = Instant(nanoseconds: UInt64.random(in: second.count...(1 << 60), using: &random))
            let pulse = LivenessMachine(LivenessSettings(), now: now)
            #expect(pulse.deadline > now + 700 * millisecond && pulse.deadline <= now + second, "seed \(seed)")
        }
    }

    @Test func settingsAreChecked() {
        #expect(LivenessSettings().problem == nil)
        var settings = LivenessSettings()
        settings.silence = .milliseconds(1900)
        #expect(settings.problem == "silence must be at least two beats")
        settings = LivenessSettings()
        settings.backoffMaximum = .milliseconds(1)
        #expect(settings.problem == "backoffMaximum must not be below backoffMinimum")
    }
}
