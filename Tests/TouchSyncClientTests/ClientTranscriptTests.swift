import Testing

@Suite struct ClientTranscriptTests {
    /// The transcripts are the same for every language: the core does exactly what they say.
    @Test(arguments: TranscriptFile.all)
    func coreFollowsTranscript(file: String) throws {
        do {
            try TranscriptRun.run(file)
        } catch let mismatch as TranscriptMismatch {
            Issue.record(Comment(rawValue: mismatch.description))
        }
    }

    @Test func transcriptsAreFound() {
        #expect(TranscriptFile.all.count >= 26)
    }
}
