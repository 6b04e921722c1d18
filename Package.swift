// swift-tools-version: 6.2
import PackageDescription

// Versions of everything we depend on stand in this one block. They are exact, because the programs are built of what
// was tested, except of packages that apps share with us: TouchSyncClient needs the first two on Linux, and an app has
// one version of each package. Package.resolved says which ones our programs have.
let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-nio", "2.101.2"..<"3.0.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", "2.37.6"..<"3.0.0"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
]

let swiftSettings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335: `any` is written where it costs.
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444: a file imports what it uses.
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409: a leaked dependency is visible as `public import`.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461: an async call stays on its caller's executor.
]

let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let jwtKit: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func library(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: swiftSettings)
}

func executable(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", resources: resources,
        swiftSettings: swiftSettings)
}

// C, fenced: each shim has exactly one Swift module above it.
let shims: [Target] = [
    .systemLibrary(name: "CZeroMQ", path: "Shared/CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
    .systemLibrary(name: "CLibpq", path: "Shared/CLibpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CZlib", path: "Shared/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLinux", path: "Shared/CLinux"),
    .target(name: "CResolver", path: "Shared/CResolver", linkerSettings: [.linkedLibrary("resolv")]),
]

// Bytes in, values out: no socket, no clock.
let pure: [Target] = [
    // Time as cores see it: moments, spans, deadlines.
    library("Timing", "Shared/Timing", [deque]),
    library("JSONBytes", "Shared/JSONBytes"),
    library("Canvas", "Shared/Canvas", ["JSONBytes"], exclude: ["README.md"]),
    library("Wire", "Shared/Wire", ["JSONBytes", "Canvas"]),
    library("SocketIO", "Shared/SocketIO", ["JSONBytes", "Timing"], exclude: ["README.md"]),
]

// Keys and who may use them: values, and arithmetic on them.
let trust: [Target] = [library("Trust", "Shared/Trust", [crypto])]

// What touches the world, each part wrapped once.
let shells: [Target] = [
    library(
        "SocketIOServer", "Shared/SocketIOServer",
        ["SocketIO", "JSONBytes", "Timing", crypto, nioCore, nioPosix, nioTLS, nioSSL, deque]),
    library(
        "Mesh", "Shared/Mesh", ["Timing", "Trust", "CZeroMQ", "CLinux", deque, nioLocks, logging],
        exclude: ["README.md"]),
    library("Processes", "Shared/Processes", ["CLinux"]),
    library(
        "Postgres", "Shared/Postgres", ["Processes", "Timing", "JSONBytes", "CLibpq", deque, logging],
        exclude: ["README.md"]),
    // What every daemon does beside its core: envelopes, links to a stage, credit, outboxes, readiness.
    library(
        "Stages", "Shared/Stages",
        ["Wire", "Timing", "Trust", "Canvas", "Mesh", "Boot", deque, nioLocks, logging, lifecycle]),
    library("PolledPostgres", "Shared/PolledPostgres", ["Timing", "Mesh", "Postgres"]),
    library("Auth", "Shared/Auth", ["JSONBytes", jwtKit, crypto, cryptoExtras]),
    library(
        "Boot", "Shared/Boot",
        [
            "Timing", "Trust", "Canvas", "Wire", "JSONBytes", "SocketIO", "CLinux", "CResolver", crypto, nioCore,
            nioPosix, nioHTTP1, nioLocks, logging, lifecycle, unixSignals,
        ]),
]

let client: [Target] = [
    // Served by the gateway; the folder also has what apps read about it.
    .target(name: "CWebClient", path: "Shared/Client/Embedded"),
    library(
        "WebClient", "Shared/Client", ["CWebClient"],
        exclude: ["README.md", "package.json", "minify.sh", "web", "types", "served", "examples", "Embedded"]),
    // What an app in Swift decides: a machine without a socket and without a clock.
    library("TouchSyncClientCore", "Shared/TouchSyncClient/Core", ["Canvas", "JSONBytes"]),
    library(
        "TouchSyncClient", "Shared/TouchSyncClient/Client",
        ["TouchSyncClientCore", "Canvas", "JSONBytes"]
            + [
                ("NIOCore", "swift-nio"), ("NIOPosix", "swift-nio"), ("NIOHTTP1", "swift-nio"),
                ("NIOWebSocket", "swift-nio"), ("NIOConcurrencyHelpers", "swift-nio"), ("NIOTLS", "swift-nio"),
                ("NIOSSL", "swift-nio-ssl"),
            ]
            .map { .product(name: $0, package: $1, condition: .when(platforms: [.linux])) }),
]

let gateway: [Target] = [
    library(
        "GatewayCore", "Services/Gateway/Core",
        ["Wire", "Timing", "JSONBytes", "Canvas", "Auth", deque, heap]),
    // What browsers show: pages, styles, scripts and pictures.
    .target(name: "CGatewayPages", path: "Services/Gateway/Pages/Embedded"),
    library(
        "GatewayPages", "Services/Gateway/Pages", ["CGatewayPages", "CZlib"],
        exclude: ["README.md", "join.mjs", "pictures", "served", "web", "Embedded"]),
    library(
        "GatewayDaemon", "Services/Gateway/Daemon",
        [
            "GatewayCore", "GatewayPages", "Wire", "Timing", "Trust", "JSONBytes", "Canvas", "SocketIO",
            "SocketIOServer", "Stages", "Mesh", "Auth", "Boot", "WebClient", crypto, nioCore, nioPosix, nioLocks, deque,
            logging, lifecycle,
        ]),
    executable("touchsync-gateway", "Services/Gateway/Main", ["GatewayDaemon", "Boot"]),
]

let coalescer: [Target] = [
    library("CoalescerCore", "Services/Coalescer/Core", ["Wire", "Timing", "Canvas", deque]),
    library(
        "CoalescerDaemon", "Services/Coalescer/Daemon",
        ["CoalescerCore", "Wire", "Timing", "Trust", "Canvas", "Stages", "Mesh", "Boot", deque, logging, lifecycle]),
    executable("touchsync-coalescer", "Services/Coalescer/Main", ["CoalescerDaemon", "Boot"]),
]

let committer: [Target] = [
    library("CommitterCore", "Services/Committer/Core", ["Wire", "Timing", "JSONBytes", "Canvas", deque]),
    .target(name: "CSchema", path: "Services/Committer/Daemon/Embedded"),
    library(
        "CommitterDaemon", "Services/Committer/Daemon",
        [
            "CSchema", "CommitterCore", "Wire", "Timing", "Trust", "JSONBytes", "Canvas", "Stages", "Mesh",
            "PolledPostgres", "Postgres", "Boot", deque, logging, lifecycle,
        ], exclude: ["Schema", "Embedded"]),
    executable("touchsync-committer", "Services/Committer/Main", ["CommitterDaemon", "Boot"]),
]

let fanout: [Target] = [
    library("FanoutCore", "Services/Fanout/Core", ["Wire", "Timing", "JSONBytes", "Canvas", deque]),
    library(
        "FanoutDaemon", "Services/Fanout/Daemon",
        [
            "FanoutCore", "Wire", "Timing", "Trust", "JSONBytes", "Canvas", "Stages", "Mesh", "PolledPostgres",
            "Postgres",
            "Boot", crypto,
            deque, logging, lifecycle,
        ]),
    executable("touchsync-fanout", "Services/Fanout/Main", ["FanoutDaemon", "Boot"]),
]

// The operator's command.
let operatorCommand: [Target] = [
    // What a terminal can do, and texts for it.
    library("OperatorTerminal", "Services/Operator/Terminal", ["Boot"]),
    // What operators see of a pipeline: what the daemons' metrics say together, as a page and in a terminal.
    .target(name: "CMonitorPages", path: "Services/Operator/Monitor/Embedded"),
    library(
        "OperatorMonitor", "Services/Operator/Monitor",
        [
            "CMonitorPages", "OperatorTerminal", "Stages", "Timing", "JSONBytes", "Boot", nioCore, nioPosix, nioHTTP1,
            nioLocks, deque, logging, lifecycle,
        ], exclude: ["Embedded", "web", "handbook.py", "picture.png"]),
    library(
        "OperatorDaemon", "Services/Operator/Daemon",
        [
            "Boot", "Auth", "Trust", "Processes", "Postgres", "JSONBytes", "Canvas", "Wire", "Mesh", "Stages",
            "GatewayCore", "GatewayDaemon", "CoalescerDaemon", "CommitterCore", "CommitterDaemon", "FanoutDaemon",
            "TouchSyncClient", "TouchSyncClientCore", "OperatorTerminal", "OperatorMonitor", "CLinux", nioLocks,
            nioCore, nioPosix, argumentParser,
        ]),
    executable("touchsync", "Services/Operator/Main", ["OperatorDaemon", argumentParser]),
]

let testTargets: [Target] = [
    // Moments and spans as literals.
    .target(
        name: "TimingTestKit", dependencies: ["Timing"], path: "Tests/TimingTestKit", swiftSettings: swiftSettings),
    .target(
        name: "PipelineTestKit", dependencies: ["Timing", "Processes", "Postgres", "Boot", "Wire", "Canvas"],
        path: "Tests/PipelineTestKit",
        swiftSettings: swiftSettings),
    .executableTarget(
        name: "socketio-conformance-server",
        dependencies: ["SocketIOServer", "SocketIO", "JSONBytes", nioCore, nioPosix],
        path: "Tests/ConformanceServer", swiftSettings: swiftSettings),
    // One judge of what apps saw, for the simulation and for the chaos runs.
    library("HistoryChecker", "Tests/HistoryChecker", ["Canvas", "JSONBytes"], exclude: ["README.md"]),
    executable("history-check", "Tests/HistoryCheck", ["HistoryChecker"]),
    tests("HistoryCheckerTests", ["HistoryChecker", "Canvas", "JSONBytes"]),
    // The tables as a committer and a fan-out see them.
    library(
        "DatabaseTestKit", "Tests/DatabaseTestKit", ["CommitterCore", "FanoutCore", "Wire", "Canvas", "JSONBytes"]),
    // All cores in one process and one seeded time.
    library(
        "Simulation", "Tests/Simulation",
        [
            "HistoryChecker", "DatabaseTestKit", "GatewayCore", "GatewayDaemon", "CoalescerCore", "CoalescerDaemon",
            "CommitterCore",
            "CommitterDaemon", "FanoutCore", "FanoutDaemon", "TouchSyncClientCore", "Stages", "Mesh", "Auth", "Trust",
            "Wire", "Timing", "Canvas", "JSONBytes", logging,
        ], exclude: ["README.md"]),
    executable("simulate", "Tests/Simulate", ["Simulation", "HistoryChecker"]),
    tests("SimulationTests", ["Simulation", "HistoryChecker", "JSONBytes"]),
    // The work of the hot cores, to be counted.
    executable(
        "benchmarks", "Tests/Benchmarks",
        [
            "GatewayCore", "CoalescerCore", "CommitterCore", "FanoutCore", "SocketIOServer", "SocketIO", "Wire",
            "Timing", "Canvas", "JSONBytes",
        ], exclude: ["README.md", "costs", "measure.py", "curves.py", "plot.py", "run.sh"]),
    // The load generator.
    executable(
        "bench", "Tests/Bench", ["Boot", "SocketIO", "JSONBytes", "CLinux", argumentParser, histogram],
        exclude: ["README.md", "peer.js", "floor.c"]),
    tests("TrustTests", ["Trust"]),
    tests("JSONBytesTests", ["JSONBytes", "Wire"]),
    tests("CanvasTests", ["Canvas", "JSONBytes", "Wire"]),
    tests(
        "MonitorTests",
        [
            "OperatorMonitor", "OperatorTerminal", "Stages", "Timing", "TimingTestKit", "JSONBytes", "Boot",
            "PipelineTestKit", nioCore, nioPosix, logging, lifecycle,
        ]),
    tests("WireTests", ["Wire", "Canvas", "JSONBytes", "PipelineTestKit"]),
    tests(
        "TouchSyncClientTests",
        [
            "TouchSyncClient", "TouchSyncClientCore", "Canvas", "JSONBytes", "SocketIO", "SocketIOServer", "TLSTestKit",
            nioCore, nioPosix, nioEmbedded, nioHTTP1, nioWebSocket, nioLocks, nioSSL,
        ]),
    // The client in a process, for the tests that both clients pass.
    executable(
        "client-driver", "Tests/ClientDriver",
        ["TouchSyncClient", "TouchSyncClientCore", "Canvas", "JSONBytes", nioLocks]),
    // Certificates that tests make for themselves.
    library("TLSTestKit", "Tests/TLSTestKit"),
    tests(
        "SocketIOTests",
        [
            "SocketIO", "SocketIOServer", "Timing", "TLSTestKit", "JSONBytes", "Wire", nioCore, nioPosix, nioHTTP1,
            nioEmbedded, nioSSL,
        ]),
    // A peer in a process of its own, for tests to stop and kill.
    executable("mesh-peer", "Tests/MeshPeer", ["Mesh", "Timing", logging]),
    tests(
        "MeshTests",
        ["TimingTestKit", "Mesh", "Timing", "Trust", "Wire", "mesh-peer", "PipelineTestKit", nioLocks, logging]),
    tests(
        "StagesTests",
        [
            "TimingTestKit", "Stages", "Mesh", "Timing", "Trust", "Wire", "Canvas", "JSONBytes", "Boot",
            "PipelineTestKit", logging, nioLocks,
        ]),
    tests("PostgresTests", ["TimingTestKit", "Timing", "Postgres", "PipelineTestKit"]),
    tests("AuthTests", ["Auth", "JSONBytes", jwtKit, crypto]),
    tests(
        "BootTests",
        ["TimingTestKit", "Timing", "Trust", "Boot", "JSONBytes", nioCore, nioPosix, nioLocks, logging, lifecycle]),
    tests(
        "GatewayTests",
        [
            "TimingTestKit", "TLSTestKit", "GatewayCore", "GatewayDaemon", "GatewayPages", "Wire", "Timing", "Canvas",
            "Auth", "JSONBytes", "Mesh", "Boot", "Stages", "SocketIO", "SocketIOServer", "PipelineTestKit", nioCore,
            nioEmbedded, nioPosix, nioLocks, logging,
        ]),
    tests(
        "CoalescerTests",
        [
            "TimingTestKit", "CoalescerCore", "CoalescerDaemon", "Wire", "Timing", "Canvas", "Stages", "Mesh", "Boot",
            "PipelineTestKit",
            nioLocks, logging, lifecycle,
        ]),
    tests(
        "CommitterTests",
        [
            "TimingTestKit", "DatabaseTestKit", "CommitterCore", "CommitterDaemon", "FanoutCore", "Wire", "Timing",
            "Canvas", "JSONBytes",
            "Stages", "Mesh", "Boot", "Postgres", "PipelineTestKit", nioLocks, logging, lifecycle,
        ]),
    tests(
        "FanoutTests",
        [
            "TimingTestKit", "DatabaseTestKit", "FanoutCore", "FanoutDaemon", "CommitterCore", "CommitterDaemon",
            "Wire",
            "Timing", "Canvas", "JSONBytes", "Mesh", "Postgres", "Boot",
            "PipelineTestKit", nioLocks, logging, lifecycle,
        ]),
    tests(
        "OperatorTests",
        [
            "OperatorDaemon", "OperatorTerminal", "TouchSyncClientCore", "Timing", "CommitterCore", "CommitterDaemon",
            "PipelineTestKit", "Postgres", "Canvas", "Wire", "Stages", "Boot", "JSONBytes", nioPosix, argumentParser,
        ]),
    tests(
        "BenchTests",
        ["bench", "SocketIO", "SocketIOServer", "JSONBytes", nioCore, nioPosix, argumentParser]),
]

// The thread sanitizer's build has only the tests in which threads share something, what they need, and of three suites
// only the files that such tests need: cores are values on one thread, and so are tables over one connection.
let isSanitized = Context.environment["TOUCHSYNC_SANITIZED"] != nil
let sanitizedTests: Set = [
    "MeshTests", "BootTests", "MonitorTests", "SocketIOTests", "TouchSyncClientTests", "CoalescerTests",
    "CommitterTests", "FanoutTests",
]
let sanitizedSources = [
    "CoalescerTests": ["DaemonTests.swift", "Neighbours.swift", "Fixture.swift"],
    "CommitterTests": [
        "Daemon/CommitterServiceTests.swift", "Daemon/Probe.swift", "Core/Fixtures.swift",
    ],
    "FanoutTests": ["Daemon/LiveTests.swift", "Daemon/LiveStage.swift", "Daemon/FakePeer.swift", "Records.swift"],
]
if isSanitized { for target in testTargets { target.sources = sanitizedSources[target.name] } }

/// The targets of these names, and those that they depend on.
func needed(_ names: Set<String>, of targets: [Target]) -> [Target] {
    let dependencies = targets.filter { names.contains($0.name) }.flatMap(\.dependencies).compactMap { dependency in
        if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
    let more = names.union(dependencies)
    return more == names ? targets.filter { names.contains($0.name) } : needed(more, of: targets)
}

let targets =
    shims + pure + trust + shells + client + gateway + coalescer + committer + fanout + operatorCommand + testTargets

let package = Package(
    name: "touchsync",
    // The oldest systems that an app with the client runs on; Linux has no such line.
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        // Geometry and rules.
        .library(name: "Canvas", targets: ["Canvas"]),
        // The client, with the modules of its values.
        .library(name: "TouchSyncClient", targets: ["TouchSyncClient", "TouchSyncClientCore", "Canvas", "JSONBytes"]),
    ],
    dependencies: dependencies,
    targets: isSanitized ? needed(sanitizedTests, of: targets) : targets,
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c2x  // for #embed
)
