import Glibc

/// One decoder under test: takes any bytes, traps when a promise is broken.
typealias Target = @Sendable (UnsafeRawBufferPointer) -> Void

private let targets: [String: Target] = [
    "http": fuzzHTTP, "proxy": fuzzProxy, "websocket": fuzzWebSocket, "payload": fuzzPayload,
    "packet": fuzzPacket,
    "engine": fuzzEngine,
    "json": fuzzJSON, "element": fuzzElement, "settings": fuzzSettings, "wire": fuzzWire, "hello": fuzzHello,
    "postgres": fuzzPostgres, "token": fuzzToken, "session": fuzzSession, "event": fuzzEvent, "peers": fuzzPeers,
    "metrics": fuzzMetrics, "request": fuzzRequest,
]

/// What `FUZZ_TARGET` names.
private let target: Target? = getenv("FUZZ_TARGET").flatMap { targets[String(cString: $0)] }

/// libFuzzer's entry.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let target else { fatalError("FUZZ_TARGET must be one of \(targets.keys.sorted())") }
    target(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    return 0
}

/// Called once before the first input. With `FUZZ_WIRE_SEEDS` it only writes the seeds of `wire` into that folder.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> Int32 {
    if let folder = getenv("FUZZ_WIRE_SEEDS") {
        writeWireSeeds(String(cString: folder))
        _exit(0)
    }
    return 0
}
