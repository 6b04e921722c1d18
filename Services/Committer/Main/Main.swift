import Boot
import CommitterDaemon

@main
struct Main {
    static func main() async {
        await DaemonMain.run(CommitterSettings.self) { settings, context in
            try CommitterService.services(settings, context)
        }
    }
}
