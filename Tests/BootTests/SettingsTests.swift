import Logging
import Testing

@testable import Boot

/// A daemon's settings as an author writes them, with one of each kind.
private struct SampleSettings: DaemonSettings {
    enum Mode: String, CaseIterable, Sendable { case open, token }

    static let tick = Setting.milliseconds("tick-ms", default: 16, in: 1...1000, "Pace.")
    static let limit = Setting.int("limit", default: 64, in: 1...100, "Bound.")
    static let open = Setting.bool("open", default: false, "Open.")
    static let origins = Setting.list("origins", "Allowed origins.")
    static let mode = Setting<Mode>.choice("mode", default: .open, "Mode.")
    static let title = Setting.string("title", default: "canvas", "Title.")
    static let schema = SettingsSchema(
        "coalescer", summary: "a sample.",
        [
            tick, limit, open, origins, mode, title, SharedSettings.bind, SharedSettings.committers,
            SharedSettings.databaseURL, SharedSettings.jwtSecret,
        ])

    let tickInterval: Duration
    let bind: String

    init(_ values: SettingValues) throws(SettingProblem) {
        self.tickInterval = values[Self.tick]
        self.bind = try values.required(SharedSettings.bind)
        if values[Self.limit] == 13 { throw values.problem(Self.limit, "must not be 13") }
    }
}

@Suite struct SettingsTests {
    private func resolve(
        _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) -> SettingsResolver {
        SettingsResolver(
            schema: SampleSettings.schema, arguments: (file == nil ? [] : ["--config", "/etc/ts.json"]) + arguments,
            environment: environment,
            readFile: { path in
                guard path == "/etc/ts.json", let file else { return .failure(SettingRefusal("cannot be read: gone")) }
                return .success(Array(file.utf8))
            })
    }

    private func complaint(
        _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) -> String? {
        self.resolve(arguments, environment: environment, file: file).problems.first?.description
    }

    @Test func namesFollowFromTheFlag() {
        #expect(SampleSettings.tick.flag == "--tick-ms")
        #expect(SampleSettings.tick.fileKey == "tickMs")
        #expect(SampleSettings.tick.environmentVariable == "TOUCHSYNC_TICK_MS")
        #expect(SharedSettings.databaseURL.fileKey == "databaseUrl")
    }

    @Test func theNearerSourceWins() {
        let file =
            #"{"common":{"logLevel":"debug"},"coalescer":{"tickMs":2.0,"logLevel":"error"},"gateway":{"port":1}}"#
        let variables = ["TOUCHSYNC_TICK_MS": "3"]
        #expect(self.resolve().values[SampleSettings.tick] == .milliseconds(16))
        #expect(self.resolve(file: file).values[SampleSettings.tick] == .milliseconds(2))
        #expect(self.resolve(file: file).values[SharedSettings.logLevel] == .error)
        let byVariable = self.resolve(environment: variables, file: file)
        #expect(byVariable.values[SampleSettings.tick] == .milliseconds(3))
        #expect(byVariable.values.source(of: SampleSettings.tick) == .environment("TOUCHSYNC_TICK_MS"))
        let byFlag = self.resolve(["--tick-ms", "4"], environment: variables, file: file)
        #expect(byFlag.values[SampleSettings.tick] == .milliseconds(4))
        #expect(byFlag.problems.isEmpty)
    }

    @Test func everyKindReadsItsTexts() {
        let values = self.resolve([
            "--open", "--origins", "a, b,c", "--mode", "token", "--limit=7", "--title", "x=y",
            "--committers", "c-1=ipc:///run/c1,c-2=tcp://10.0.0.1:5000", "--database-url", "postgresql://h/d",
        ]).values
        #expect(values[SampleSettings.open])
        #expect(values[SampleSettings.origins] == ["a", "b", "c"])
        #expect(values[SampleSettings.mode] == .token)
        #expect(values[SampleSettings.limit] == 7)
        #expect(values[SampleSettings.title] == "x=y")
        #expect(
            values[SharedSettings.committers]
                == .list([
                    PeerAddress(name: "c-1", endpoint: "ipc:///run/c1"),
                    PeerAddress(name: "c-2", endpoint: "tcp://10.0.0.1:5000"),
                ]))
        #expect(values[SharedSettings.databaseURL] == "postgresql://h/d")
        #expect(!self.resolve(["--open", "false"]).values[SampleSettings.open])
    }

    @Test func everyKindReadsItsJSON() {
        let file = """
            {"coalescer":{"open":true,"origins":["a,b"],"mode":"token","limit":7,"title":"t",
             "committers":["c-1=ipc:///run/c1"],"bind":"ipc:///run/me"},
             "common":{"databaseUrl":"postgresql://h/d"}}
            """
        let resolved = self.resolve(file: file)
        #expect(resolved.problems.isEmpty, "\(resolved.problems)")
        #expect(resolved.values[SampleSettings.origins] == ["a,b"])
        #expect(resolved.values.knownInstances(SharedSettings.committers).map(\.name) == ["c-1"])
        #expect(resolved.values[SharedSettings.databaseURL] == "postgresql://h/d")
    }

    @Test func theDatabaseHasAWellKnownVariable() {
        #expect(self.resolve(environment: ["DATABASE_URL": "a"]).values[SharedSettings.databaseURL] == "a")
        let both = ["DATABASE_URL": "a", "TOUCHSYNC_DATABASE_URL": "b"]
        #expect(self.resolve(environment: both).values[SharedSettings.databaseURL] == "b")
        let empty = ["DATABASE_URL": "a", "TOUCHSYNC_DATABASE_URL": ""]
        #expect(self.resolve(environment: empty).values[SharedSettings.databaseURL] == "a")
    }

    @Test(arguments: [
        (["--tick"], "--tick: is no setting of touchsync-coalescer; see --help (command line)"),
        (["tick"], "tick: is no flag; see --help (command line)"),
        (["-x"], "-x: is no flag; see --help (command line)"),
        (["--tick-ms"], "--tick-ms: needs a value: a whole number of milliseconds from 1 to 1000 (command line)"),
        (
            ["--tick-ms", "--open"],
            "--tick-ms: needs a value: a whole number of milliseconds from 1 to 1000 (command line)"
        ),
        (["--tick-ms=1", "--tick-ms=2"], "--tick-ms: is given twice (command line)"),
        (
            ["--tick-ms", "0"],
            "--tick-ms: must be a whole number of milliseconds from 1 to 1000, not \"0\" (command line)"
        ),
        (
            ["--tick-ms", "1.5"],
            "--tick-ms: must be a whole number of milliseconds from 1 to 1000, not \"1.5\" (command line)"
        ),
        (
            ["--limit", "99999999999999999999"],
            "--limit: must be a whole number from 1 to 100, not \"99999999999999999999\" (command line)"
        ),
        (["--open", "maybe"], "--open: must be true or false, not \"maybe\" (command line)"),
        (["--mode", "shut"], "--mode: must be one of open, token, not \"shut\" (command line)"),
        (["--title", ""], "--title: must be text, not \"\" (command line)"),
        (
            ["--origins", "a,,b"],
            "--origins: must be a list of texts, joined by commas (in the file: an array), not \"a,,b\" (command line)"
        ),
        (
            ["--bind", "udp://x"],
            "--bind: \"udp://x\" is no endpoint; write ipc:///PATH or tcp://HOST:PORT (command line)"
        ),
        (["--bind", "ipc://run"], "--bind: \"ipc://run\" needs an absolute path: ipc:///PATH (command line)"),
        (
            ["--bind", "tcp://h:0"],
            "--bind: \"tcp://h:0\" needs a host and a port from 1 to 65535: tcp://HOST:PORT (command line)"
        ),
        (["--committers", "a"], "--committers: \"a\" is not of the form name=endpoint (command line)"),
        (
            ["--committers", "a b=ipc:///x"],
            "--committers: \"a b\" is not a name of 1 to 64 letters, digits, dots, dashes and underscores (command line)"
        ),
        (
            ["--committers", "a=ipc:///x,a=ipc:///y"],
            "--committers: the name \"a\" stands twice in the list (command line)"
        ),
        (
            ["--committers", "file://x"],
            "--committers: \"file://x\" needs an absolute path: file:///PATH (command line)"
        ),
        (
            ["--committers", "dns://x"],
            "--committers: \"dns://x\" needs a host name and a port from 1 to 65535: dns://HOST:PORT (command line)"
        ),
        (
            ["--name", "ä"],
            "--name: \"ä\" is not a name of 1 to 64 letters, digits, dots, dashes and underscores (command line)"
        ),
        (
            ["--admin-port", "65536"],
            "--admin-port: must be a whole number from 0 to 65535, not \"65536\" (command line)"
        ),
        (
            ["--log-level", "loud"],
            "--log-level: must be one of trace, debug, info, notice, warning, error, critical, not \"loud\" (command line)"
        ),
        (["--config"], "--config: needs the path of a settings file (command line)"),
        (["--config", "/none"], "/none: cannot be read: gone (command line)"),
        (["--check-config=1"], "--check-config: takes no value (command line)"),
        (["--jwt-secret", "s3cr\u{1}t"], "--jwt-secret: must be text, not the value given (command line)"),
    ])
    func aWrongFlagSaysWhatIsAllowed(_ arguments: [String], _ expected: String) {
        #expect(self.complaint(arguments) == expected)
    }

    @Test(arguments: [
        ("{", "/etc/ts.json: is no valid JSON at byte 1:"),
        (
            "[]",
            "/etc/ts.json: must hold one JSON object with the sections common, gateway, coalescer, committer, fanout, monitor"
        ),
        (#"{"coalescers":{}}"#, "/etc/ts.json: has no section \"coalescers\"; allowed are common, gateway"),
        (#"{"coalescer":7}"#, "/etc/ts.json: section \"coalescer\" must be an object"),
        (#"{"coalescer":{"tick":1}}"#, "tick: is no setting of touchsync-coalescer (/etc/ts.json: coalescer.tick)"),
        (
            #"{"coalescer":{"tick-ms":1}}"#,
            "tick-ms: is no setting of touchsync-coalescer; a file calls it \"tickMs\" (/etc/ts.json: coalescer.tick-ms)"
        ),
        (
            #"{"common":{"log-level":"info"}}"#,
            "log-level: is no setting of the section \"common\"; a file calls it \"logLevel\" (/etc/ts.json: common.log-level)"
        ),
        (#"{"common":{"tickMs":1}}"#, "tickMs: is no setting of the section \"common\" (/etc/ts.json: common.tickMs)"),
        (
            #"{"coalescer":{"tickMs":"16"}}"#,
            "--tick-ms: must be a whole number of milliseconds from 1 to 1000, not \"16\" (/etc/ts.json: coalescer.tickMs)"
        ),
        (
            #"{"coalescer":{"tickMs":null}}"#,
            "--tick-ms: must be a whole number of milliseconds from 1 to 1000, not null"
        ),
        (#"{"coalescer":{"tickMs":{}}}"#, "not an object (/etc/ts.json: coalescer.tickMs)"),
        (#"{"coalescer":{"open":"true"}}"#, "--open: must be true or false, not \"true\""),
        (#"{"coalescer":{"origins":"a,b"}}"#, "--origins: must be a list of texts"),
        (#"{"coalescer":{"origins":[1]}}"#, "not an array of other things than strings"),
        (#"{"coalescer":{"title":1}}"#, "--title: must be text, not 1"),
        (#"{"coalescer":{"mode":["open"]}}"#, "--mode: must be one of open, token, not [\"open\"]"),
        (#"{"coalescer":{"tickMs":1,"tickMs":2}}"#, "/etc/ts.json: is no valid JSON at byte"),
    ])
    func aWrongFileSaysWhere(_ file: String, _ expected: String) {
        #expect(self.complaint(file: file)?.contains(expected) == true, "\(self.complaint(file: file) ?? "accepted")")
    }

    @Test func aWrongVariableIsNamed() {
        #expect(
            self.complaint(environment: ["TOUCHSYNC_LIMIT": "many"])
                == "--limit: must be a whole number from 1 to 100, not \"many\" (environment variable TOUCHSYNC_LIMIT)")
        #expect(
            self.complaint(environment: ["TOUCHSYNC_CONFIG": "/gone"])
                == "/gone: cannot be read: gone (environment variable TOUCHSYNC_CONFIG)")
    }

    @Test func allProblemsAreReportedAtOnce() {
        let resolved = self.resolve(["--limit", "0", "--nope"], environment: ["TOUCHSYNC_TICK_MS": "0"])
        #expect(resolved.problems.count == 3)
    }

    @Test func whatSpansSettingsIsChecked() {
        var missing = self.resolve()
        #expect(missing.settings(SampleSettings.self) == nil)
        #expect(
            missing.problems.first?.description == "--bind: is required: give the flag, the environment variable "
                + "TOUCHSYNC_BIND, or \"bind\" in the settings file")
        var unlucky = self.resolve(["--bind", "ipc:///x", "--limit", "13"])
        #expect(unlucky.settings(SampleSettings.self) == nil)
        #expect(unlucky.problems.first?.description == "--limit: must not be 13 (command line)")
        var fine = self.resolve(["--bind", "ipc:///x"])
        #expect(fine.settings(SampleSettings.self)?.bind == "ipc:///x")
    }

    @Test func actions() {
        #expect(self.resolve().action == .run)
        #expect(self.resolve(["--check-config"]).action == .checkConfig)
        #expect(self.resolve(["--print-config"]).action == .printConfig)
        #expect(self.resolve(["--help"]).action == .help)
        #expect(self.resolve(["-h"]).action == .help)
        #expect(self.resolve(["--version"]).action == .version)
    }

    @Test func secretsAreNeverPrinted() {
        let resolved = self.resolve([
            "--jwt-secret", "correct horse battery staple", "--database-url",
            "postgresql://me:s3cret@h/d?password=s3cret",
        ])
        let text = SettingsReport.effective(resolved.values)
        #expect(!text.contains("horse") && !text.contains("s3cret"))
        #expect(text.contains("jwt-secret = ********  # command line\n"))
        #expect(text.contains("database-url = postgresql://me:********@h/d?password=********  # command line\n"))
        #expect(text.contains("tick-ms = 16  # default\n"))
    }

    @Test func helpNamesEverySettingAndItsSources() {
        let help = SettingsReport.help(SampleSettings.schema)
        for setting in SampleSettings.schema.settings {
            #expect(
                help.contains(setting.flag) && help.contains(setting.environmentVariable)
                    && help.contains(setting.meaning))
        }
        #expect(help.contains("default 16") && help.contains("DATABASE_URL"))
    }

    @Test func aPathTooLongForASocketIsRefused() {
        let fits = "ipc:///" + String(repeating: "a", count: PeerAddress.longestSocketPath - 1)
        #expect(self.complaint(["--bind", fits]) == nil)
        #expect(self.complaint(["--bind", fits + "a"])?.contains("108 bytes; a UNIX socket allows 107") == true)
    }
}

@Suite struct LoopbackTests {
    @Test(arguments: ["localhost", "127.0.0.1", "127.255.0.9", "::1"])
    func onlyThisMachineReachesIt(_ host: String) { #expect(Loopback.contains(host)) }

    @Test(arguments: [
        "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "127.0.0.1.example.com", "127.0.0", "127.0.0.256", "127", "",
        "example.com",
        "localhost.example.com", "::ffff:10.0.0.1",
    ])
    func everythingElseMayBeReachedByOthers(_ host: String) { #expect(!Loopback.contains(host)) }
}
