import Testing
import Wire

@Suite struct HistoryChainTests {
    /// Computed from the documented formula by another program.
    @Test func golden() {
        let first = HistoryChain.link(gseq: 1, room: "r1", seq: 1, session: "s", number: 1, body: 0)
        let second = HistoryChain.link(
            gseq: 2, room: "a-room-of-17-byte", seq: 9, session: "-P6xnKVpAAAAAAA.3", number: 7, body: .max)
        #expect(first == 0x0399_49cc_963e_27c3 && second == 0x8b40_d165_bdbf_e068)
        let chain = HistoryChain.next(0, first)
        #expect(chain == 0x3cbd_58ac_2bb5_c1ed)
        #expect(HistoryChain.next(chain, second) == 0x371c_1d4d_ba62_61b6)
    }

    @Test func everyFieldCounts() {
        let links = [
            HistoryChain.link(gseq: 1, room: "r", seq: 1, session: "s", number: 1, body: 1),
            HistoryChain.link(gseq: 2, room: "r", seq: 1, session: "s", number: 1, body: 1),
            HistoryChain.link(gseq: 1, room: "q", seq: 1, session: "s", number: 1, body: 1),
            HistoryChain.link(gseq: 1, room: "r", seq: 2, session: "s", number: 1, body: 1),
            HistoryChain.link(gseq: 1, room: "r", seq: 1, session: "t", number: 1, body: 1),
            HistoryChain.link(gseq: 1, room: "r", seq: 1, session: "s", number: 2, body: 1),
            HistoryChain.link(gseq: 1, room: "r", seq: 1, session: "s", number: 1, body: 2),
            HistoryChain.link(gseq: 1, room: "rs", seq: 1, session: "", number: 1, body: 1),
            HistoryChain.link(gseq: 1, room: "r\0", seq: 1, session: "s", number: 1, body: 1),
        ]
        #expect(Set(links).count == links.count)
    }

    @Test func whatIsNotKnownContradictsNothing() {
        #expect(HistoryChain.continues(0, link: 5, chain: 9))
        #expect(HistoryChain.continues(9, link: 5, chain: 0))
        #expect(!HistoryChain.continues(9, link: 5, chain: 9))
        #expect(HistoryChain.continues(9, link: 5, chain: HistoryChain.next(9, 5)))
    }

    @Test func sessionsHaveAnAge() {
        #expect(SessionKey.isOlder("-P6xnKVpAAAAAAA", than: "-P71wvFp"))
        #expect(SessionKey.isOlder("-P6xnKVpAAAAAAA.3", than: "-P71wvFp"))
        #expect(!SessionKey.isOlder("-P71wvFpAAAAAAA", than: "-P71wvFp"))
        #expect(!SessionKey.isOlder("-P6xnKVpAAAAAAA", than: ""))
        // Names that are of no time.
        #expect(!SessionKey.isOlder("-", than: "-P71wvFp") && !SessionKey.isOlder("s1.2", than: "z"))
    }
}
