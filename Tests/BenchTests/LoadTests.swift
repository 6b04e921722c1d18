import ArgumentParser
import Testing

@testable import bench

@Suite struct LoadTests {
    @Test func everyConnectionAndEveryRoleIsThereOnce() {
        var load = Load()
        load.rooms = 7
        load.members = 5
        load.commitRate = 10
        load.committers = 3
        load.slowShare = 0.3
        load.idle = 11
        let plans = ClientPlan.plans(load)
        #expect(plans.map(\.index) == Array(0..<46))
        #expect(plans.count { $0.room == nil } == 11)
        for count in 0...5 {
            #expect(plans.compactMap { $0.number(amongFirst: count) }.sorted() == Array(0..<count * 7))
        }
        #expect(plans.count(where: \.isMover) == 21)
        #expect(plans.count(where: \.isFirst) == 7)
        #expect(plans.count(where: \.isSlow) == 14)
        #expect(plans.allSatisfy { !$0.isSlow || !$0.isMover })
        for room in 0..<7 { #expect(plans.count { $0.room == room } == 5) }
    }

    @Test func slowReadersAreNeverThoseThatSend() {
        var load = Load()
        load.slowShare = 1
        #expect(load.slowPerRoom == 8)
        load.senders = 10
        #expect(load.slowPerRoom == 0)
        load.slowShare = 0
        #expect(load.slowPerRoom == 0)
    }

    @Test func loadsThatCannotBeAreNamed() {
        #expect(Load().problem == nil)
        for named in BenchPreset.allCases.flatMap(\.phases) { #expect(named.load.problem == nil, "\(named.title)") }
        func problem(_ change: (inout Load) -> Void) -> String? {
            var load = Load()
            change(&load)
            return load.problem
        }
        #expect(problem { $0.rate = -1 } != nil)
        #expect(problem { $0.rate = .nan } != nil)
        #expect(problem { $0.senders = 11 } != nil)
        #expect(problem { $0.rooms = 0 } != nil)
        #expect(problem { $0.rooms = .max } != nil)
        #expect(problem { $0.duration = 0 } != nil)
        #expect(problem { $0.ramp = .infinity } != nil)
        #expect(problem { $0.slowShare = 1.5 } != nil)
    }

    @Test func argumentsSayWhatIsRun() throws {
        func options(_ arguments: String...) throws -> BenchOptions {
            try BenchCommand.parse(arguments).options()
        }
        let plain = try options(
            "--url", "http://a:1", "--url", "http://b:2", "--rooms", "3", "--commits", "5", "--plain", "--pid",
            "node=12")
        #expect(plain.urls == ["http://a:1", "http://b:2"])
        #expect(plain.isPlain)
        #expect(plain.processes == [WatchedProcess(name: "node", pid: 12)])
        #expect(plain.loads.map(\.load.rooms) == [3])
        #expect(plain.loads.map(\.load.commitRate) == [5])
        let standard = try options("--preset", "standard")
        #expect(standard.loads == BenchPreset.standard.flatMap(\.phases))
        #expect(try options("--preset", "overload", "--sustainable", "5").sustainable == 5)
        // A shorter run has the same goals, another load has none.
        #expect(try options("--preset", "light", "--duration", "3").loads.map(\.goals.isEmpty) == [false])
        #expect(try options("--preset", "light", "--rate", "31").loads.map(\.goals.isEmpty) == [true])
        #expect(throws: (any Error).self) { try options("--preset", "nothing") }
        #expect(throws: (any Error).self) { try options("--pid", "12") }
    }

    @Test func serverAddresses() {
        #expect(
            ServerAddress("http://127.0.0.1:8080").map { [$0.host, "\($0.port)", $0.path] } == [
                "127.0.0.1", "8080", "/socket.io/",
            ])
        #expect(ServerAddress("ws://host/live")?.path == "/live/")
        #expect(ServerAddress("ws://host/live")?.port == 80)
        #expect(ServerAddress("http://[::1]:90/").map { [$0.host, "\($0.port)"] } == ["::1", "90"])
        #expect(ServerAddress("http://[::1]").map { [$0.host, "\($0.port)"] } == ["::1", "80"])
        for bad in [
            "https://x", "x:80", "http://", "http://x:0", "http://x:99999", "http://x/a b", "http://x/\r\nA: b",
            "http://:80",
        ] {
            #expect(ServerAddress(bad) == nil, "\(bad)")
        }
    }
}
