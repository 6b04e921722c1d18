import Boot
import GatewayDaemon

@main
struct Main {
    static func main() async {
        await DaemonMain.run(GatewaySettings.self) { settings, context in
            GatewayService.services(settings, context)
        }
    }
}
