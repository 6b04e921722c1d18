import Boot
import FanoutDaemon

@main
struct Main {
    static func main() async {
        await DaemonMain.run(FanoutSettings.self) { settings, context in
            try FanoutService.services(settings, context)
        }
    }
}
