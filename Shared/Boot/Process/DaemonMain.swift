internal import Glibc
internal import JSONBytes
package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
package import ServiceLifecycle
internal import UnixSignals

/// The lifecycle of every daemon process: settings, logging, services, exit code.
///
///     @main struct Main {
///         static func main() async {
///             await DaemonMain.run(CoalescerSettings.self) { settings, context in
///                 [try CoalescerService(settings, context)]
///             }
///         }
///     }
///
/// Exit codes: 0 stopped on request; 1 a service failed; 78 (EX_CONFIG of sysexits.h) invalid settings.
package enum DaemonMain {
    package static let configurationExitCode: Int32 = 78

    /// Runs the daemon and ends the process.
    /// - Parameters:
    ///   - arguments: the flags.
    ///   - build: creates the services in the order of dependency: each may use the previous ones, and is stopped before
    ///     them. It registers the daemon's readiness checks. An error ends the process with code 1.
    package static func run<Settings: DaemonSettings>(
        _ type: Settings.Type, arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        build: (Settings, DaemonContext) async throws -> [any Service]
    ) async -> Never {
        ProcessSetup.hideSecrets(SecretArguments(of: Settings.schema.settings))
        let descriptorLimit = ProcessSetup.prepare()
        ProcessSetup.confine()
        var resolver = SettingsResolver(
            schema: Settings.schema, arguments: arguments, environment: ProcessSetup.environment())
        let settings = self.settings(type, &resolver)
        let values = resolver.values
        self.settle(values)
        let name = values[SharedSettings.name(values.schema.section)]
        let handler = LineLogHandler(
            origin: name, format: values[SharedSettings.logFormat], level: values[SharedSettings.logLevel],
            marksPriority: JournalStream.isStandardError(ProcessSetup.environment()))
        LoggingSystem.bootstrap { _ in handler }
        let logger = Logger(label: Settings.schema.program) { _ in handler }
        let context = DaemonContext(name: name, logger: logger)
        ProcessMetrics.add(to: context.metrics, log: .standardError)
        context.health.addMetrics(to: context.metrics)
        logger.info(
            "daemon starts",
            metadata: [
                "daemon.program": "\(Settings.schema.program)", "daemon.version": "\(BuildInfo.line)",
                "process.id": "\(getpid())", "process.fd_limit": "\(descriptorLimit)",
            ])
        do {
            let services = try await build(settings, context)
            let group = self.group(services, values, context, self.manager(logger))
            try await group.run()
            logger.info("daemon stopped")
            exit(0)
        } catch {
            logger.error("daemon failed", metadata: ["error": "\(error)"])
            exit(1)
        }
    }

    /// Handles command-line actions other than running; returns only when the daemon is to run.
    private static func settings<Settings: DaemonSettings>(
        _ type: Settings.Type, _ resolver: inout SettingsResolver
    ) -> Settings {
        switch resolver.action {
        case .help:
            ProcessSetup.print(SettingsReport.help(Settings.schema))
            exit(0)
        case .version:
            ProcessSetup.print("\(BuildInfo.line)\n")
            exit(0)
        case .run, .checkConfig, .printConfig: break
        }
        let settings = resolver.settings(type)
        if resolver.action == .printConfig { ProcessSetup.print(SettingsReport.effective(resolver.values)) }
        guard let settings else {
            for problem in resolver.problems { ProcessSetup.complain("\(Settings.schema.program): \(problem)\n") }
            exit(self.configurationExitCode)
        }
        if resolver.action == .checkConfig {
            if resolver.values[SharedSettings.operatorToken] == nil {
                ProcessSetup.complain("\(Settings.schema.program): \(self.healthOnly)\n")
            }
            ProcessSetup.print("ok\n")
        }
        if resolver.action != .run { exit(0) }
        return settings
    }

    /// What an operator is told who has set no token.
    private static let healthOnly =
        "\(SharedSettings.operatorToken.flag) is not set, so the admin server shows nothing but health"

    /// Gives up the rights of root, or ends the process.
    private static func settle(_ values: SettingValues) {
        do throws(SettingProblem) {
            try ProcessUser.settle(user: values[SharedSettings.user], allowsRoot: values[SharedSettings.allowRoot])
        } catch {
            ProcessSetup.complain("\(values.schema.program): \(error)\n")
            exit(self.configurationExitCode)
        }
    }

    /// The service manager to report to, if there is one.
    private static func manager(_ logger: Logger) -> ServiceManager? {
        let environment = ProcessSetup.environment()
        let manager = ServiceManager(environment: environment)
        if manager == nil, let name = environment["NOTIFY_SOCKET"] {
            logger.warning("the service manager's socket cannot be used", metadata: ["process.socket": "\(name)"])
        }
        return manager
    }

    private static func group(
        _ services: [any Service], _ values: SettingValues, _ context: DaemonContext, _ manager: ServiceManager?
    ) -> ServiceGroup {
        let report = ReadyReport(descriptor: values[SharedSettings.readyFd].map(Int32.init))
        let logger = context.logger
        context.health.observe { state in
            report.healthChanged(state)
            manager?.healthChanged(state)
            if state.isReady {
                logger.info("daemon is ready", metadata: state.url.map { ["daemon.url": "\($0)"] } ?? [:])
            } else {
                let reasons = state.reasons.map { "\($0.check): \($0.text)" }.joined(separator: "; ")
                logger.info("daemon is not ready", metadata: ["daemon.reasons": "\(reasons)"])
            }
        }
        if let manager { context.health.observeRounds(manager.loopsTurned) }
        let health = context.health
        let access = OperatorAccess(token: values[SharedSettings.operatorToken])
        if !access.isPossible { logger.warning("\(self.healthOnly)") }
        let admin = AdminServer(
            host: values[SharedSettings.adminHost], port: values[SharedSettings.adminPort], pages: context.pages,
            access: access,
            metrics: context.metrics
        ) { url in
            logger.info("admin pages are served", metadata: ["admin.url": "\(url)"])
            report.listening(at: url)
            health.serve()
        }
        var all: [any Service] = [admin, FreedMemoryReturn()]
        all += services
        if let descriptor = values[SharedSettings.parentFd] { all.append(ParentWatch(descriptor: Int32(descriptor))) }
        // Its reload is SIGHUP, also for daemons without a file to read again.
        if manager != nil { all.append(HangUps {}) }
        all.append(DrainStart(health: context.health, manager: manager, logger: logger))
        var configuration = ServiceGroupConfiguration(
            services: all.map { service in
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: service, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = values[SharedSettings.drainTimeout]
        return ServiceGroup(configuration: configuration)
    }
}

/// The last service of a daemon, hence the first to be stopped: it marks the start of the drain.
private struct DrainStart: Service {
    let health: Health
    let manager: ServiceManager?
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        self.logger.info("drain begins")
        self.manager?.stopping()
        self.health.drain()
        ProcessSetup.endLatest(in: 15)
    }
}

/// Ends when the supervisor is gone: the kernel closes the supervisor's end of the pipe however it died, SIGKILL
/// included, and this end reads end of file. (PR_SET_PDEATHSIG would fire when the *thread* that started us ends, and
/// comparing parent ids is racy.)
package struct ParentWatch: Service {
    private let descriptor: Int32

    /// - Parameter descriptor: the read end of a pipe whose write end only the supervisor has; this value takes
    ///   ownership.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns at end of file, or at graceful shutdown.
    package func run() async throws {
        // One thread, whatever the machine has; the singleton group has one for each core.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await NIOPipeBootstrap(group: group)
            .takingOwnershipOfDescriptor(input: self.descriptor).get()
        await withTaskCancellationOrGracefulShutdownHandler {
            // An error on the pipe is an end as well.
            try? await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
        try await group.shutdownGracefully()
    }
}

/// What a daemon needs to build its services.
package struct DaemonContext: Sendable {
    package let name: String
    package let logger: Logger
    package let metrics: MetricsRegistry
    package let health: Health
    /// The admin server's pages; further ones can be added while building.
    package let pages: AdminPages

    package init(name: String, logger: Logger, metrics: MetricsRegistry = MetricsRegistry(), health: Health = Health())
    {
        self.name = name
        self.logger = logger
        self.metrics = metrics
        self.health = health
        self.pages = AdminPages(health: health, metrics: metrics)
    }

    /// For tests that run a daemon in their own process: no logs, no pages.
    package static func quiet(name: String) -> DaemonContext {
        DaemonContext(name: name, logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() })
    }
}

/// Reports readiness to the supervisor once, on the descriptor that it passed:
/// `{"ready":true,"http":"http://127.0.0.1:PORT","url":"http://…"}` and a newline; then closes the descriptor.
final class ReadyReport: Sendable {
    private struct State {
        var descriptor: Int32?
        var http: String?
    }

    private let state: NIOLockedValueBox<State>

    init(descriptor: Int32?) {
        self.state = NIOLockedValueBox(State(descriptor: descriptor))
    }

    /// The admin server's address, known once it listens.
    func listening(at http: String) {
        self.state.withLockedValue { $0.http = http }
    }

    /// Sends the report when everything is ready for the first time.
    func healthChanged(_ health: HealthState) {
        guard health.isReady else { return }
        let (descriptor, http) = self.state.withLockedValue { state in
            defer { state.descriptor = nil }
            return (state.descriptor, state.http)
        }
        guard let descriptor else { return }
        FileBytes.write(Array(Self.line(http: http, url: health.url).utf8), to: descriptor)
        close(descriptor)
    }

    static func line(http: String?, url: String?) -> String {
        JSONWriter.line { writer in
            writer.member("ready", true)
            writer.member("http", ifPresent: http)
            writer.member("url", ifPresent: url)
        }
    }
}

/// The texts of `--help` and `--print-config`.
package enum SettingsReport {
    package static func help(_ schema: SettingsSchema) -> String {
        var text = """
            \(schema.program): \(schema.summary)

            Every setting can be a flag (--name value or --name=value), an environment variable or a member of the
            settings file's section "\(schema.section)" (some also of "common"), in this order of precedence.

              --config FILE
                  The settings file (JSON). TOUCHSYNC_CONFIG
              --check-config
                  Check the settings, print "ok", end.
              --print-config
                  Print every setting's value and where it came from, end.
              --version
                  Print the version, end.
              --help
                  Print this, end.

            """
        for setting in schema.settings {
            let fallback = setting.shown(setting.fallbackValue)
            let variables = ([setting.environmentVariable] + setting.environmentAliases).joined(separator: ", ")
            text += """

                  \(setting.flag)
                      \(setting.meaning)
                      \(setting.allowed)\(fallback.isEmpty ? "" : "; default \(fallback)"). \(variables), "\(setting.fileKey)"
                """
        }
        return text + "\n"
    }

    /// One line per setting: `name = value  # source`, secrets masked.
    package static func effective(_ values: SettingValues) -> String {
        var text = ""
        for setting in values.schema.settings {
            guard let entry = values.entries[setting.name] else { continue }
            text += "\(setting.name) = \(setting.shown(entry.value))  # \(entry.source)\n"
        }
        return text
    }
}
