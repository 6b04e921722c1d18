import CommitterDaemon
import Testing

@Suite struct UpkeepFindingsTests {
    @Test func whatTheFirstRoundFindsIsNoProblemYet() {
        let findings = UpkeepFindings(missingDays: 2, otherUserSessions: "1000")
        #expect(findings.lasting(since: nil) == UpkeepFindings())
    }

    @Test func daysAreMissingWhenTwoRoundsMissThem() {
        let (none, some) = (UpkeepFindings(), UpkeepFindings(missingDays: 2))
        #expect(some.lasting(since: none) == none && none.lasting(since: some) == none)
        #expect(some.lasting(since: UpkeepFindings(missingDays: 1)) == UpkeepFindings(missingDays: 1))
    }

    @Test func anotherBoundIsFoundInEachRoundButTheFirst() {
        let findings = UpkeepFindings(otherUserSessions: "1000")
        #expect(findings.lasting(since: UpkeepFindings()) == findings)
        #expect(findings.lasting(since: findings) == findings)
    }
}
