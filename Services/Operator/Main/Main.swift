import ArgumentParser
import OperatorDaemon

@main
struct Main {
    static func main() async {
        await TouchSyncCommand.main()
    }
}
