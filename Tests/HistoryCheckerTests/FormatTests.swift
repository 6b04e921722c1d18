import HistoryChecker
import Testing

@Suite struct FormatTests {
    @Test func everyRecordComesBackFromItsLine() throws {
        let text = Histories.good.map(\.line).joined(separator: "\n") + "\n"
        #expect(try HistoryReader.records(Array(text.utf8)) == Histories.good)
    }

    @Test func linesOfOtherWritersAreRead() throws {
        let text = """
            {"kind":"deliver","time":1.5,"client":"c","room":"r","seq":41,"event":"deleted","element":null,\
            "elements":{"a":"","b":""},"more":[1]}

            {"kind":"resumed","time":2,"client":"c","room":"r","epoch":7,"seq":40}
            """
        let records = try HistoryReader.records(Array(text.utf8))
        #expect(records.count == 2)
        #expect(records.first?.states == ["a": "", "b": ""])
        #expect(records.last?.epoch == "7")
    }

    @Test(arguments: [
        (#"{"kind":"heal"}"#, "heal without a fit time"),
        (#"{"kind":"snow","time":1}"#, "unknown kind snow"),
        (#"{"time":1}"#, "no kind"),
        (#"{"kind":"shard","shard":1,"gseq":-1}"#, "shard without a fit gseq"),
        (#"{"kind":"left","time":1,"client":"c","room":"r","chosen":1}"#, "left with an unfit chosen"),
        (#"{"kind":"heal","time":1"#, "no JSON: unexpectedEnd"),
    ])
    func whatIsNoRecordIsNamedWithItsLine(line: String, reason: String) {
        #expect(throws: HistoryFormatError(line: 2, reason: reason)) {
            try HistoryReader.records(Array("{\"kind\":\"quiet\",\"time\":0}\n\(line)\n".utf8))
        }
    }
}
