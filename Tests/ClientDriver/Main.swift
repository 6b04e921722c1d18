// Drives the client for Tests/Client: commands come in, reports go out, as lines of JSON. A command names a method,
// {"call": 1, "method", "arguments"}, and gets {"call": 1, "result"} or {"call": 1, "error"}; events are
// {"event", "value"}. Tests/Client/driver.mjs is the same for the client of web pages.
// Usage: client-driver '{"url": "http://127.0.0.1:8080", "userId": "ada"}'
import Foundation
import JSONBytes
import TouchSyncClient
import TouchSyncClientCore

@main struct Main {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let options = JSONObject(text: Array(CommandLine.arguments[1].utf8))
        else {
            fatalError("usage: client-driver OPTIONS, a JSON object")
        }
        let driver = try Driver(options)
        for await line in Self.lines() {
            guard let command = JSONObject(text: Array(line.utf8)), let call = command["call"]?.integer,
                let method = command["method"]?.string
            else { fatalError("no command: \(line)") }
            await driver.perform(method, command["arguments"].map { Array($0.elements) } ?? [], call: call)
        }
        await driver.client.close()
    }

    /// Standard input, read on a thread of its own, since that waits.
    private static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }
}
