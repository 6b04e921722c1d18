import Testing

@testable import Boot

@Suite struct ProcessUserTests {
    private let ana = ProcessUser.Account(name: "ana", user: 1000, group: 100, home: "/srv/ana")
    private let root = ProcessUser.Account(name: "root", user: 0, group: 0, home: "/root")

    private func step(
        _ name: String?, _ account: ProcessUser.Account?, isRoot: Bool, current: UInt32 = 0, allowsRoot: Bool = false
    ) -> ProcessUser.Step? {
        try? ProcessUser.step(to: name, account, isRoot: isRoot, current: current, allowsRoot: allowsRoot)
    }

    @Test func rootIsGivenUpOrRefused() {
        #expect(self.step("ana", self.ana, isRoot: true) == .become(self.ana))
        #expect(self.step("ana", self.ana, isRoot: true, allowsRoot: true) == .become(self.ana))
        #expect(self.step(nil, nil, isRoot: true) == nil)
        #expect(self.step(nil, nil, isRoot: true, allowsRoot: true) == .stay)
        #expect(self.step("root", self.root, isRoot: true) == nil)
        #expect(self.step("root", self.root, isRoot: true, allowsRoot: true) == .stay)
    }

    @Test func othersStayWhoTheyAre() {
        #expect(self.step(nil, nil, isRoot: false, current: 7) == .stay)
        #expect(self.step("ana", self.ana, isRoot: false, current: 1000) == .stay)
        #expect(self.step("ana", self.ana, isRoot: false, current: 7) == nil)
    }

    @Test func aUserMustExist() {
        let problem = #expect(throws: SettingProblem.self) {
            try ProcessUser.step(to: "nobody-here", nil, isRoot: true, current: 0, allowsRoot: true)
        }
        #expect(problem?.description == "--user: names nobody-here, which is no user of this machine")
        #expect(ProcessUser.Account(named: "root")?.user == 0)
        #expect(ProcessUser.Account(named: "no-such-user-here") == nil)
    }
}
