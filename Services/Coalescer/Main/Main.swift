import Boot
import CoalescerDaemon

@main
struct Main {
    static func main() async {
        await DaemonMain.run(CoalescerSettings.self) { settings, context in
            try CoalescerService.services(settings, context)
        }
    }
}
