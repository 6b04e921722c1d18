import ArgumentParser
import OperatorDaemon

@main
struct Main {
    static func main() {
        TouchSyncCommand.hideSecrets()
        TouchSyncCommand.main()
    }
}
