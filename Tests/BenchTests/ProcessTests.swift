import Glibc
import Testing

@testable import bench

@Suite struct ProcessTests {
    @Test func cpuTimeAndMemoryFromAStatLineWhateverTheNameHolds() {
        let line =
            "123 (a) b (c) S 1 123 123 0 -1 4194304 500 0 0 0 250 50 0 0 20 0 9 0 100 700000000 2048 18446744073709551615 1"
        let sample = ProcessSample(stat: Array(line.utf8), ticksPerSecond: 100, pageSize: 4096)
        #expect(sample == ProcessSample(cpu: 3_000_000, memory: 2048 * 4096))
    }

    @Test func otherTextIsRefused() {
        for text in ["", "123 (x) S 1", "123 (x", "1 (x) S 1 1 1 0 -1 1 1 0 0 0 a b 0 0 20 0 9 0 100 7 2048 1"] {
            #expect(ProcessSample(stat: Array(text.utf8), ticksPerSecond: 100, pageSize: 4096) == nil)
        }
    }

    @Test func thisProcessHasUsedTimeAndMemory() throws {
        let sample = try #require(ProcessSample.of(Int(ProcessTests.ownID)))
        #expect(sample.memory > 1 << 20)
        #expect(ProcessSample.of(Int(Int32.max)) == nil)
    }

    static var ownID: Int32 { getpid() }

    @Test func aThreadsTimeOnACoreAndWithoutOne() {
        #expect(ThreadSample(schedstat: Array("1200 34 5\n".utf8)) == ThreadSample(running: 1200, waiting: 34))
        #expect(ThreadSample(schedstat: Array("x 34 5\n".utf8)) == nil)
        #expect(ThreadSample(schedstat: []) == nil)
    }

    @Test func aPipelinesStateFile() {
        let text = """
            {"urls":["http://127.0.0.1:8080"],"database":"postgresql://","processes":[{"stage":"gateway","name":\
            "gateway-1","pid":12,"http":null,"ready":true},{"stage":"fanout","name":"fanout-1","pid":null}]}
            """
        let pipeline = RunningPipeline(Array(text.utf8))
        #expect(pipeline?.urls == ["http://127.0.0.1:8080"])
        #expect(pipeline?.processes == [WatchedProcess(name: "gateway-1", pid: 12)])
        #expect(RunningPipeline(Array("{}".utf8)) == nil)
        #expect(RunningPipeline([]) == nil)
    }

    @Test func processesByName() {
        #expect(WatchedProcess("node=7") == WatchedProcess(name: "node", pid: 7))
        for text in ["node", "=7", "node=", "node=x", "node=0", "node=-3"] { #expect(WatchedProcess(text) == nil) }
    }
}
