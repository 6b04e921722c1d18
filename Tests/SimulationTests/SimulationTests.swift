import Foundation
import HistoryChecker
import Simulation
import Testing

@Suite(.serialized) struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let workers = ProcessInfo.processInfo.activeProcessorCount

    @Test func whateverFailsNothingAcknowledgedIsLostAndEverybodySeesOneOrder() async {
        let campaign = await Campaign.run(1..<401, workers: Self.workers)
        for failure in campaign.failures.prefix(10) {
            Issue.record("make simulate SEED=\(failure.seed): \(failure.summary)\n\(failure.report)")
        }
        #expect(campaign.missing.isEmpty, "what never happened proves nothing")
        #expect(campaign.counts["malformed"] == nil, "an envelope that one daemon wrote could not be read by another")
        #expect(campaign.counts["clients.stuck-deadlines"] == nil, "a client's deadline that time does not move")
        let counts = campaign.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("\(campaign.worlds) worlds: \(counts.joined(separator: ", "))")
    }

    /// The invariant that each mistake must be caught as, whatever else it causes; one without shows in who holds rooms.
    private static let symptoms: [Mutant: Invariant] = [
        .dedupOff: .noPhantom, .ackBeforeCommit: .durable, .blindWrites: .gapless, .naivePolling: .convergence,
        .fenceOff: .previews, .gesturesForgotten: .previews, .previewsOvertaken: .previews, .previewsInPart: .previews,
        .foreignValues: .previews, .inFlightOff: .liveness,
        .answersLost: .answers, .unnumberedInARow: .answers, .groupInPart: .groups,
        .cascadeOff: .groups,
        .foreignStacks: .undo, .viewportsOff: .viewports, .areasOff: .viewports, .viewportsForgotten: .viewports,
        .departuresOff: .viewports, .entrancesOff: .viewports, .sightingsLost: .viewports,
        .cursorsEverywhere: .viewports,
        .recordLost: .edits, .sendsEarly: .edits, .historyBlank: .edits, .editsTwice: .confirmation,
        .jumpsBack: .steadiness,
        .drawingsLost: .screens,
        .startsAtArrival: .poses, .playsOn: .poses, .clockWrong: .poses, .posesSent: .silence,
    ]

    private static func shows(_ mutant: Mutant, in failure: Campaign.Failure) -> Bool {
        Self.symptoms[mutant].map { failure.violated.contains($0) } ?? !failure.strays.isEmpty
    }

    /// Where mistakes were found that show in few worlds, the rarest in one of two hundred. After a change of the cores a
    /// seed may make another world: the search goes on from there, and takes longer.
    private static let rareFinds: [Mutant: UInt64] = [
        .sendsEarly: 380, .naivePolling: 20, .fenceOff: 12, .historyBlank: 17,
        .removalOff: 20, .recordLost: 13,
    ]

    @Test(arguments: Mutant.allCases)
    func aMistakeThatIsBuiltInIsFound(_ mutant: Mutant) async {
        var seed = Self.rareFinds[mutant] ?? 0
        let end = seed + 640
        while seed < end {
            let campaign = await Campaign.run(seed..<seed + 4, mutant: mutant, workers: Self.workers)
            if campaign.failures.contains(where: { Self.shows(mutant, in: $0) }) { return }
            seed += 4
        }
        Issue.record("\(mutant) was not found in 640 worlds")
    }

    @Test(
        .enabled(
            if: Self.environment["SWIFT_DETERMINISTIC_HASHING"] != nil,
            "Swift draws the order of dictionaries anew for each process; Tests/run.sh tells it not to"),
        arguments: [1, 7, 42] as [UInt64])
    func equalSeedsGiveEqualWorlds(_ seed: UInt64) {
        let history = World(Plan(seed: seed)).run()
        #expect(World(Plan(seed: seed)).run() == history)
        #expect(World(Plan(seed: seed + 1)).run() != history)
    }
}
